//! What can be asked of the past: of the owner's store, and of one that is only read.

use std::future::Future;

use jiff::Timestamp;

use crate::store::{Generation, Lifetime, Past, Reader, Remembered, Store, StoreError, Topic, Used};
use crate::table::{Change, Groups, Name};

type Answer<T> = Result<T, StoreError>;

/// A store, whoever has it open. The errors are the store's.
#[allow(missing_docs, reason = "each is the store's own question")]
pub trait Archive: Send {
    fn table_at(&mut self, generation: u64) -> impl Future<Output = Answer<Past>> + Send;
    fn groups_at(&mut self, generation: u64) -> impl Future<Output = Answer<Groups>> + Send;
    fn changes_between(&mut self, from: u64, to: u64) -> impl Future<Output = Answer<Vec<Change>>> + Send;
    fn generations(&mut self, limit: u32) -> impl Future<Output = Answer<Vec<Generation>>> + Send;
    fn generation_at(&mut self, at: Timestamp) -> impl Future<Output = Answer<u64>> + Send;
    fn acts_since(&mut self, generation: u64) -> impl Future<Output = Answer<Vec<Remembered>>> + Send;
    fn history(&mut self, topic: &Topic) -> impl Future<Output = Answer<Vec<Lifetime>>> + Send;
    fn used(&mut self, bas: &Name) -> impl Future<Output = Answer<Used>> + Send;
}

macro_rules! archive {
    ($store:ty) => {
        impl Archive for $store {
            async fn table_at(&mut self, generation: u64) -> Answer<Past> {
                <$store>::table_at(self, generation).await
            }
            async fn groups_at(&mut self, generation: u64) -> Answer<Groups> {
                <$store>::groups_at(self, generation).await
            }
            async fn changes_between(&mut self, from: u64, to: u64) -> Answer<Vec<Change>> {
                <$store>::changes_between(self, from, to).await
            }
            async fn generations(&mut self, limit: u32) -> Answer<Vec<Generation>> {
                <$store>::generations(self, limit).await
            }
            async fn generation_at(&mut self, at: Timestamp) -> Answer<u64> {
                <$store>::generation_at(self, at).await
            }
            async fn acts_since(&mut self, generation: u64) -> Answer<Vec<Remembered>> {
                <$store>::acts_since(self, generation).await
            }
            async fn history(&mut self, topic: &Topic) -> Answer<Vec<Lifetime>> {
                <$store>::history(self, topic).await
            }
            async fn used(&mut self, bas: &Name) -> Answer<Used> {
                <$store>::used(self, bas).await
            }
        }
    };
}

archive!(Store);
archive!(Reader);
