//! Files as they come: plain, gzip (RFC 1952) or zstd (RFC 8878), told apart by their first
//! octets and not by their names.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use serde::Serialize;
use thiserror::Error;

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Packing {
    /// Not at all.
    Plain,
    /// gzip; several members one after the other are one file.
    Gzip,
    /// zstd; several frames one after the other are one file.
    Zstd,
}

/// Why a file cannot be read, or not to its end.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InputError {
    /// A packing that is not unpacked here.
    #[error("this is {0}: unpack it first")]
    Packed(&'static str),
    /// The file ends within packed data.
    #[error("the {0} data ends too early: the file was cut short")]
    Truncated(&'static str),
    /// Packed data that is damaged.
    #[error("the {packing} data is damaged: {detail}")]
    Damaged {
        /// The packing.
        packing: &'static str,
        /// What the decoder says.
        detail: String,
    },
    /// The system's own word.
    #[error("cannot be read: {0}")]
    Io(String),
}

impl InputError {
    /// A stable word for the kind.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Packed(_) => "packed",
            Self::Truncated(_) => "truncated",
            Self::Damaged { .. } => "damaged",
            Self::Io(_) => "io",
        }
    }
}

/// A file, unpacked as it is read.
pub(super) struct Input<'r> {
    packing: Packing,
    reader: Box<dyn Read + 'r>,
    raw: Rc<Cell<u64>>,
}

impl<'r> Input<'r> {
    /// Looks at the first octets and prepares to unpack.
    pub(super) fn open(mut reader: impl Read + 'r) -> Result<Self, InputError> {
        let mut head = Vec::with_capacity(MAGIC);
        let begun = (&mut reader).take(MAGIC as u64).read_to_end(&mut head);
        begun.map_err(|e| InputError::Io(e.to_string()))?;
        if let Some((_, name)) = FOREIGN.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Err(InputError::Packed(name));
        }
        let packing = packing(&head);
        let raw = Rc::new(Cell::new(0));
        let counted = Counted { inner: Cursor::new(head).chain(reader), read: Rc::clone(&raw) };
        let reader: Box<dyn Read + 'r> = match packing {
            Packing::Plain => Box::new(counted),
            Packing::Gzip => Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, counted))),
            Packing::Zstd => Box::new(Frames::new(BufReader::with_capacity(BUFFER, counted))),
        };
        Ok(Self { packing, reader, raw })
    }

    /// How the file is packed.
    pub(super) const fn packing(&self) -> Packing {
        self.packing
    }

    /// How many octets of the file itself were read so far.
    pub(super) fn raw(&self) -> u64 {
        self.raw.get()
    }

    /// Reads on; 0 at the end.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, InputError> {
        loop {
            match self.reader.read(buffer) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => (),
                result => return result.map_err(|e| self.explain(&e)),
            }
        }
    }

    fn explain(&self, error: &io::Error) -> InputError {
        let packing = match self.packing {
            Packing::Plain => return InputError::Io(error.to_string()),
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        };
        match error.kind() {
            io::ErrorKind::UnexpectedEof => InputError::Truncated(packing),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::Other => {
                InputError::Damaged { packing, detail: error.to_string() }
            }
            _ => InputError::Io(error.to_string()),
        }
    }
}

const BUFFER: usize = 128 * 1024;

/// As many octets as the longest of the signatures below.
const MAGIC: usize = 6;

const FOREIGN: [(&[u8], &str); 5] = [
    (b"\xfd7zXZ\0", "an xz file"),
    (b"BZh", "a bzip2 file"),
    (b"PK\x03\x04", "a zip file (a spreadsheet is one, too: save it as CSV)"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z file"),
    (b"\x04\x22\x4d\x18", "an lz4 file"),
];

fn packing(head: &[u8]) -> Packing {
    match head {
        [0x1f, 0x8b, ..] => Packing::Gzip,
        // A frame, or a skippable one before it.
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Packing::Zstd,
        _ => Packing::Plain,
    }
}

struct Counted<R> {
    inner: R,
    read: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.read.set(self.read.get() + count as u64);
        Ok(count)
    }
}

/// The frames of a zstd file. The decoder takes one frame at a time and checks no checksum
/// of its own accord.
struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    within: bool,
}

impl<R: BufRead> Frames<R> {
    fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), within: false }
    }

    /// Begins the next frame; false at the end of the file.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.within = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    if io::copy(&mut (&mut self.source).take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(e) => return Err(self.failed(&e)),
            }
        }
        Ok(false)
    }

    /// An error at the end of the file is its being cut short.
    fn failed(&mut self, error: &FrameDecoderError) -> io::Error {
        match self.source.fill_buf() {
            Ok([]) => io::ErrorKind::UnexpectedEof.into(),
            Ok(_) => io::Error::new(io::ErrorKind::InvalidData, error.to_string()),
            Err(e) => e,
        }
    }

    fn end(&mut self) -> io::Result<()> {
        self.within = false;
        let (said, found) = (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum());
        match said {
            Some(_) if said != found => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "a checksum does not fit"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.within && !self.begin()? {
                return Ok(0);
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let step = self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1));
                step.map_err(|e| self.failed(&e))?;
            }
            match self.decoder.read(buffer)? {
                0 if buffer.is_empty() => return Ok(0),
                0 => self.end()?,
                count => return Ok(count),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        writer.write_all(text).unwrap();
        writer.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    }

    fn read(file: &[u8]) -> (Vec<u8>, Result<Packing, InputError>) {
        let mut text = Vec::new();
        let mut input = match Input::open(file) {
            Ok(input) => input,
            Err(e) => return (text, Err(e)),
        };
        let mut buffer = [0; 1000];
        loop {
            match input.read(&mut buffer) {
                Ok(0) => return (text, Ok(input.packing())),
                Ok(count) => text.extend_from_slice(&buffer[..count]),
                Err(e) => return (text, Err(e)),
            }
        }
    }

    fn sample() -> Vec<u8> {
        (0..20_000u32)
            .flat_map(|n| format!("{} {:x}\n", n, n.wrapping_mul(2_654_435_761)).into_bytes())
            .collect()
    }

    #[test]
    fn what_is_packed_is_unpacked_and_the_rest_stays() {
        let text = sample();
        assert_eq!(read(&text), (text.clone(), Ok(Packing::Plain)));
        assert_eq!(read(&gzip(&text)), (text.clone(), Ok(Packing::Gzip)));
        assert_eq!(read(&zstd(&text)), (text.clone(), Ok(Packing::Zstd)));
        assert_eq!(read(b""), (vec![], Ok(Packing::Plain)));
        assert_eq!(read(b"1"), (b"1".to_vec(), Ok(Packing::Plain)));
    }

    #[test]
    fn members_and_frames_follow_each_other() {
        let twice = |file: Vec<u8>| [file.clone(), file].concat();
        assert_eq!(read(&twice(gzip(b"one\n"))).0, b"one\none\n");
        assert_eq!(read(&twice(zstd(b"one\n"))).0, b"one\none\n");
        let skipped = [b"\x51\x2a\x4d\x18\x03\0\0\0abc".to_vec(), zstd(b"one\n")].concat();
        assert_eq!(read(&skipped), (b"one\n".to_vec(), Ok(Packing::Zstd)));
    }

    #[test]
    fn what_is_cut_short_says_so_after_what_could_be_read() {
        let text = sample();
        for (file, name) in [(gzip(&text), "gzip"), (zstd(&text), "zstd")] {
            for cut in [5, file.len() / 2, file.len() - 1] {
                let (found, end) = read(&file[..cut]);
                assert!(text.starts_with(&found));
                assert_eq!(end, Err(InputError::Truncated(name)), "{name} cut at {cut}");
            }
        }
        assert_eq!(read(b"\x51\x2a\x4d\x18\x09\0\0\0abc").1, Err(InputError::Truncated("zstd")));
    }

    #[test]
    fn what_is_damaged_says_so() {
        let text = sample();
        for mut file in [gzip(&text), zstd(&text)] {
            let middle = file.len() / 2;
            file[middle..middle + 40].iter_mut().for_each(|octet| *octet ^= 0x55);
            let (_, end) = read(&file);
            assert!(matches!(end, Err(InputError::Damaged { .. } | InputError::Truncated(_))), "{end:?}");
        }
        // `printf 'one\n' | zstd --check`, and the same with its checksum altered.
        let mut file = *b"\x28\xb5\x2f\xfd\x04\x58\x21\0\0one\n\xdf\x16\x68\x09";
        assert_eq!(read(&file), (b"one\n".to_vec(), Ok(Packing::Zstd)));
        file[16] ^= 1;
        assert_eq!(read(&file).1.unwrap_err().kind(), "damaged");
        let behind = [gzip(b"one\n"), b"something that is no member".to_vec()].concat();
        assert_eq!(read(&behind).1.unwrap_err().kind(), "damaged");
    }

    #[test]
    fn what_is_not_unpacked_here_is_named() {
        assert_eq!(
            read(b"PK\x03\x04rest").1.unwrap_err().to_string().split(':').next(),
            Some("this is a zip file (a spreadsheet is one, too")
        );
        assert_eq!(read(b"\xfd7zXZ\0").1, Err(InputError::Packed("an xz file")));
    }
}
