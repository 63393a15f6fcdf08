//! Unpacking a body as it comes.

use std::io::{self, Write as _};

use brotli_decompressor::DecompressorWriter;
use flate2::write::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{Decoder as ZstdRaw, InBuffer, Operation as _, OutBuffer};
use zstd::zstd_safe::DParameter;

use super::Intake;

/// How much is unpacked at once.
const BUFFER_BYTES: usize = 16 * 1_024;

/// The largest window of zstd, as a power of two: 8 MiB, which every decoder has to support.
const ZSTD_WINDOW_LOG: u32 = 23;

/// Unpacks what is pushed, and gives it on.
pub(super) enum Decoder {
    Identity(Intake),
    Gzip(Box<MultiGzDecoder<Intake>>),
    /// The format is seen at the first byte: servers send either under this name.
    DeflateUnseen(Intake),
    Deflate(Box<Deflate>),
    Brotli(Box<DecompressorWriter<Intake>>),
    Zstd(Box<Zstd>),
}

/// What deflate needs beside its state.
pub(super) struct Deflate {
    raw: Decompress,
    intake: Intake,
    is_ended: bool,
}

/// What zstd needs beside its state.
pub(super) struct Zstd {
    raw: ZstdRaw<'static>,
    intake: Intake,
    is_in_frame: bool,
}

impl Decoder {
    /// Makes a decoder by the name in `Content-Encoding`; `None` for one that is not known.
    pub(super) fn new(encoding: &str, intake: Intake) -> Option<Self> {
        Some(match encoding {
            "" | "identity" => Self::Identity(intake),
            "gzip" | "x-gzip" => Self::Gzip(Box::new(MultiGzDecoder::new(intake))),
            "deflate" => Self::DeflateUnseen(intake),
            "br" => Self::Brotli(Box::new(DecompressorWriter::new(intake, BUFFER_BYTES))),
            "zstd" => {
                let mut raw = ZstdRaw::new().ok()?;
                raw.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG)).ok()?;
                Self::Zstd(Box::new(Zstd { raw, intake, is_in_frame: false }))
            }
            _ => return None,
        })
    }

    /// Unpacks a piece.
    ///
    /// # Errors
    /// It is broken, or unpacks to more than is taken.
    pub(super) fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        if let (Self::DeflateUnseen(intake), Some(first)) = (&mut *self, piece.first()) {
            // The low four bits of zlib's first byte name deflate; a raw stream that begins so is no valid one.
            let raw = Decompress::new(first & 0x0f == 8);
            let intake = std::mem::take(intake);
            *self = Self::Deflate(Box::new(Deflate { raw, intake, is_ended: false }));
        }
        match self {
            Self::Identity(intake) => intake.write_all(piece),
            Self::Gzip(decoder) => decoder.write_all(piece),
            Self::DeflateUnseen(_) => Ok(()),
            Self::Deflate(deflate) => deflate.push(piece),
            Self::Brotli(decoder) => decoder.write_all(piece),
            Self::Zstd(zstd) => zstd.push(piece),
        }
    }

    /// Gives on what is left, at the end.
    ///
    /// # Errors
    /// The end came in the middle.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Identity(_) | Self::DeflateUnseen(_) => Ok(()),
            Self::Gzip(decoder) => decoder.try_finish(),
            Self::Brotli(decoder) => decoder.close(),
            Self::Deflate(deflate) if !deflate.is_ended => Err(io::ErrorKind::UnexpectedEof.into()),
            Self::Deflate(_) => Ok(()),
            Self::Zstd(zstd) if zstd.is_in_frame => Err(io::ErrorKind::UnexpectedEof.into()),
            Self::Zstd(_) => Ok(()),
        }
    }

    /// Returns where it gives things.
    pub(super) fn intake(&mut self) -> &mut Intake {
        match self {
            Self::Identity(intake) | Self::DeflateUnseen(intake) => intake,
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Deflate(deflate) => &mut deflate.intake,
            Self::Brotli(decoder) => decoder.get_mut(),
            Self::Zstd(zstd) => &mut zstd.intake,
        }
    }
}

impl Deflate {
    fn push(&mut self, mut piece: &[u8]) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER_BYTES];
        while !self.is_ended {
            let (before_in, before_out) = (self.raw.total_in(), self.raw.total_out());
            let status = self.raw.decompress(piece, &mut buffer, FlushDecompress::None)?;
            let taken = usize::try_from(self.raw.total_in() - before_in).unwrap_or(usize::MAX);
            let made = usize::try_from(self.raw.total_out() - before_out).unwrap_or(usize::MAX);
            piece = piece.get(taken..).unwrap_or_default();
            self.is_ended = status == Status::StreamEnd;
            self.intake.write_all(buffer.get(..made).unwrap_or_default())?;
            if piece.is_empty() && made < BUFFER_BYTES || taken == 0 && made == 0 {
                return Ok(());
            }
        }
        Ok(())
    }
}

impl Zstd {
    fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        let mut input = InBuffer::around(piece);
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let mut output = OutBuffer::around(buffer.as_mut_slice());
            let hint = self.raw.run(&mut input, &mut output)?;
            self.is_in_frame = hint != 0;
            let written = output.as_slice();
            let is_full = written.len() == BUFFER_BYTES;
            self.intake.write_all(written)?;
            if input.pos() == piece.len() && !is_full {
                return Ok(());
            }
        }
    }
}
