//! Compression of single buffers: an `i64` with the size before, then the data; −1 says that it is stored as it is.

use std::io::{Read as _, Write as _};

use bytes::Bytes;
use lz4_flex::frame::{BlockSize, FrameDecoder, FrameEncoder, FrameInfo};

use crate::table::ArrowCompression;

const PREFIX_BYTES: usize = 8;
const STORED: i64 = -1;

/// Compresses buffers one after the other.
pub(super) struct Compressor {
    kind: Kind,
    buffer: Vec<u8>,
}

enum Kind {
    None,
    Lz4Frame,
    Zstd(Box<zstd::bulk::Compressor<'static>>),
}

impl std::fmt::Debug for Compressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compressor").finish_non_exhaustive()
    }
}

impl Compressor {
    pub(super) fn new(compression: ArrowCompression) -> std::io::Result<Self> {
        let kind = match compression {
            ArrowCompression::None => Kind::None,
            ArrowCompression::Lz4Frame => Kind::Lz4Frame,
            ArrowCompression::Zstd { level } => Kind::Zstd(Box::new(zstd::bulk::Compressor::new(level)?)),
        };
        Ok(Self { kind, buffer: Vec::new() })
    }

    /// Returns the codec as the metadata of a message names it.
    pub(super) fn codec(&self) -> Option<arrow_ipc::CompressionType> {
        match self.kind {
            Kind::None => None,
            Kind::Lz4Frame => Some(arrow_ipc::CompressionType::LZ4_FRAME),
            Kind::Zstd(_) => Some(arrow_ipc::CompressionType::ZSTD),
        }
    }

    /// Appends a buffer, compressed if that makes it no longer.
    pub(super) fn write(&mut self, bytes: &[u8], output: &mut Vec<u8>) -> std::io::Result<()> {
        self.buffer.clear();
        match &mut self.kind {
            Kind::None => {
                output.extend_from_slice(bytes);
                return Ok(());
            }
            // An empty buffer needs no frame.
            Kind::Lz4Frame | Kind::Zstd(_) if bytes.is_empty() => {}
            Kind::Lz4Frame => {
                let info = FrameInfo::new().block_size(BlockSize::Max64KB);
                let mut encoder = FrameEncoder::with_frame_info(info, &mut self.buffer);
                encoder.write_all(bytes)?;
                encoder.finish().map_err(std::io::Error::other)?;
            }
            Kind::Zstd(compressor) => {
                self.buffer.reserve(zstd::zstd_safe::compress_bound(bytes.len()));
                compressor.compress_to_buffer(bytes, &mut self.buffer)?;
            }
        }
        let (size, data) = if self.buffer.len() > bytes.len() {
            (STORED, bytes)
        } else {
            (i64::try_from(bytes.len()).map_err(std::io::Error::other)?, self.buffer.as_slice())
        };
        output.extend(size.to_le_bytes());
        output.extend_from_slice(data);
        Ok(())
    }
}

/// Decompresses buffers of one batch, within a limit for all of them.
pub(super) struct Decompressor {
    codec: Option<arrow_ipc::CompressionType>,
    zstd: Option<zstd::bulk::Decompressor<'static>>,
    left: usize,
}

/// Why a buffer cannot be decompressed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Malformed,
    TooLarge,
}

impl Decompressor {
    pub(super) fn new(codec: Option<arrow_ipc::CompressionType>, limit: usize) -> Self {
        Self { codec, zstd: None, left: limit }
    }

    /// Returns the contents of a buffer; they share its memory if they are stored as they are.
    pub(super) fn read(&mut self, mut buffer: Bytes) -> Result<Bytes, Fault> {
        let Some(codec) = self.codec else { return Ok(buffer) };
        if buffer.is_empty() {
            return Ok(buffer);
        }
        let size = i64::from_le_bytes(*buffer.first_chunk::<PREFIX_BYTES>().ok_or(Fault::Malformed)?);
        let _ = buffer.split_to(PREFIX_BYTES);
        if size == STORED {
            return Ok(buffer);
        }
        let size = usize::try_from(size).map_err(|_| Fault::Malformed)?;
        self.left = self.left.checked_sub(size).ok_or(Fault::TooLarge)?;
        if size == 0 {
            return Ok(Bytes::new());
        }
        let mut contents = Vec::with_capacity(size);
        if codec == arrow_ipc::CompressionType::ZSTD {
            if self.zstd.is_none() {
                self.zstd = Some(zstd::bulk::Decompressor::new().map_err(|_| Fault::Malformed)?);
            }
            let decompressor = self.zstd.as_mut().ok_or(Fault::Malformed)?;
            decompressor.decompress_to_buffer(&buffer, &mut contents).map_err(|_| Fault::Malformed)?;
        } else if codec == arrow_ipc::CompressionType::LZ4_FRAME {
            // One byte more than promised is enough to notice a frame that does not keep its promise.
            let limit = u64::try_from(size).map_err(|_| Fault::Malformed)?.saturating_add(1);
            let mut decoder = FrameDecoder::new(&buffer[..]).take(limit);
            decoder.read_to_end(&mut contents).map_err(|_| Fault::Malformed)?;
        } else {
            return Err(Fault::Malformed);
        }
        if contents.len() == size { Ok(Bytes::from(contents)) } else { Err(Fault::Malformed) }
    }
}
