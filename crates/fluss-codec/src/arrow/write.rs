//! Writes columns as the message of a batch.

use arrow_ipc::{
    BodyCompression, BodyCompressionArgs, BodyCompressionMethod, Buffer, FieldNode, MessageBuilder,
    MessageHeader, MetadataVersion, RecordBatchBuilder,
};
use flatbuffers::FlatBufferBuilder;

use super::column::{Bits, ColumnBuilder, Data};
use super::compression::Compressor;
use super::{ALIGNMENT, CONTINUATION, PREFIX_BYTES};
use crate::table::ArrowCompression;

/// Writes messages of one table, one after the other.
#[derive(Debug)]
pub(crate) struct MessageWriter {
    compressor: Compressor,
    nodes: Vec<FieldNode>,
    buffers: Vec<Buffer>,
    /// Validity of map entries, which are never null.
    set_bits: Vec<u8>,
}

impl MessageWriter {
    /// Creates a writer.
    pub(crate) fn new(compression: ArrowCompression) -> std::io::Result<Self> {
        let compressor = Compressor::new(compression)?;
        Ok(Self { compressor, nodes: Vec::new(), buffers: Vec::new(), set_bits: Vec::new() })
    }

    /// Appends the message that holds the columns, all of `rows` values.
    pub(crate) fn write(
        &mut self,
        columns: &[ColumnBuilder],
        rows: usize,
        output: &mut Vec<u8>,
    ) -> std::io::Result<()> {
        let rows = length(rows)?;
        self.nodes.clear();
        self.buffers.clear();
        for column in columns {
            column.count(&mut self.nodes, &mut self.buffers);
        }
        // The metadata has the same size whatever the numbers in it are, so its place is known beforehand; only a
        // zero takes up none.
        let start = output.len();
        let metadata = self.metadata(rows, 1);
        let padded = (PREFIX_BYTES + metadata.len()).next_multiple_of(ALIGNMENT) - PREFIX_BYTES;
        let body_start = start + PREFIX_BYTES + padded;
        output.resize(body_start, 0);

        self.nodes.clear();
        self.buffers.clear();
        for column in columns {
            self.write_column(column, body_start, output)?;
        }
        let metadata = self.metadata(rows, length(output.len() - body_start)?);
        let size = u32::try_from(padded).map_err(std::io::Error::other)?;
        let parts = [&CONTINUATION.to_le_bytes()[..], &size.to_le_bytes(), &metadata];
        let place = output.get_mut(start..body_start).unwrap_or_default();
        for (target, byte) in place.iter_mut().zip(parts.into_iter().flatten()) {
            *target = *byte;
        }
        Ok(())
    }

    fn metadata(&self, rows: i64, body_length: i64) -> Vec<u8> {
        let mut builder = FlatBufferBuilder::new();
        let nodes = builder.create_vector(&self.nodes);
        let buffers = builder.create_vector(&self.buffers);
        let compression = self.compressor.codec().map(|codec| {
            let method = BodyCompressionMethod::BUFFER;
            BodyCompression::create(&mut builder, &BodyCompressionArgs { codec, method })
        });
        let mut batch = RecordBatchBuilder::new(&mut builder);
        batch.add_length(rows);
        batch.add_nodes(nodes);
        batch.add_buffers(buffers);
        if let Some(compression) = compression {
            batch.add_compression(compression);
        }
        let batch = batch.finish();
        // In Java's order, so that the bytes are the same.
        let mut message = MessageBuilder::new(&mut builder);
        message.add_header_type(MessageHeader::RecordBatch);
        message.add_header(batch.as_union_value());
        message.add_version(MetadataVersion::V5);
        message.add_bodyLength(body_length);
        let message = message.finish();
        builder.finish(message, None);
        builder.finished_data().to_vec()
    }

    fn write_column(
        &mut self,
        column: &ColumnBuilder,
        body_start: usize,
        output: &mut Vec<u8>,
    ) -> std::io::Result<()> {
        self.write_validity(&column.validity, body_start, output)?;
        match &column.data {
            Data::Bits(bits) => self.write_buffer(&bits.bytes, body_start, output),
            Data::Fixed { bytes, .. } => self.write_buffer(bytes, body_start, output),
            Data::Variable { offsets, bytes } => {
                self.write_buffer(&offsets.bytes, body_start, output)?;
                self.write_buffer(bytes, body_start, output)
            }
            Data::List { offsets, elements } => {
                self.write_buffer(&offsets.bytes, body_start, output)?;
                self.write_column(elements, body_start, output)
            }
            Data::Map { offsets, keys, values } => {
                self.write_buffer(&offsets.bytes, body_start, output)?;
                self.nodes.push(FieldNode::new(length(keys.len())?, 0));
                let mut set = std::mem::take(&mut self.set_bits);
                set.clear();
                set.resize(keys.len() / 8, u8::MAX);
                if !keys.len().is_multiple_of(8) {
                    set.push((1 << (keys.len() % 8)) - 1);
                }
                self.write_buffer(&set, body_start, output)?;
                self.set_bits = set;
                self.write_column(keys, body_start, output)?;
                self.write_column(values, body_start, output)
            }
            Data::Struct(fields) => {
                fields.iter().try_for_each(|field| self.write_column(field, body_start, output))
            }
        }
    }

    fn write_validity(
        &mut self,
        bits: &Bits,
        body_start: usize,
        output: &mut Vec<u8>,
    ) -> std::io::Result<()> {
        self.nodes.push(FieldNode::new(length(bits.len)?, length(bits.unset)?));
        self.write_buffer(&bits.bytes, body_start, output)
    }

    fn write_buffer(&mut self, bytes: &[u8], body_start: usize, output: &mut Vec<u8>) -> std::io::Result<()> {
        let start = output.len();
        self.compressor.write(bytes, output)?;
        let written = output.len() - start;
        self.buffers.push(Buffer::new(length(start - body_start)?, length(written)?));
        output.resize(start + written.next_multiple_of(ALIGNMENT), 0);
        Ok(())
    }
}

impl ColumnBuilder {
    /// Adds an empty node and empty buffers for each that the column is going to have.
    fn count(&self, nodes: &mut Vec<FieldNode>, buffers: &mut Vec<Buffer>) {
        let own = if matches!(self.data, Data::Variable { .. }) { 3 } else { 2 };
        let own = if matches!(self.data, Data::Struct(_)) { 1 } else { own };
        nodes.push(FieldNode::new(0, 0));
        buffers.extend(std::iter::repeat_n(Buffer::new(0, 0), own));
        match &self.data {
            Data::List { elements, .. } => elements.count(nodes, buffers),
            Data::Map { keys, values, .. } => {
                nodes.push(FieldNode::new(0, 0));
                buffers.push(Buffer::new(0, 0));
                keys.count(nodes, buffers);
                values.count(nodes, buffers);
            }
            Data::Struct(fields) => fields.iter().for_each(|field| field.count(nodes, buffers)),
            Data::Bits(_) | Data::Fixed { .. } | Data::Variable { .. } => {}
        }
    }
}

fn length(length: usize) -> std::io::Result<i64> {
    i64::try_from(length).map_err(std::io::Error::other)
}
