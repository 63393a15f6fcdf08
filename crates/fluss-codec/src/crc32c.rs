//! CRC-32C (Castagnoli), the checksum of record batches.

const POLYNOMIAL: u32 = 0x82f6_3b78;

/// Eight tables, so that eight bytes are taken per step.
static TABLES: [[u32; 256]; 8] = tables();

#[expect(clippy::indexing_slicing, reason = "runs at compile time, where a wrong index does not compile")]
const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0_u32; 256]; 8];
    let mut index = 0;
    let mut seed = 0_u32;
    while index < 256 {
        let mut value = seed;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ POLYNOMIAL } else { value >> 1 };
            bit += 1;
        }
        tables[0][index] = value;
        index += 1;
        seed += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut index = 0;
        while index < 256 {
            let previous = tables[table - 1][index];
            let [low, ..] = previous.to_le_bytes();
            tables[table][index] = previous >> 8 ^ tables[0][low as usize];
            index += 1;
        }
        table += 1;
    }
    tables
}

/// Returns the checksum of some bytes.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    let (words, tail) = bytes.as_chunks::<8>();
    let mut crc = u32::MAX;
    for word in words {
        let [a, b, c, d, e, f, g, h] = *word;
        let [p, q, r, s] = (crc ^ u32::from_le_bytes([a, b, c, d])).to_le_bytes();
        let [t0, t1, t2, t3, t4, t5, t6, t7] = &TABLES;
        crc = entry(t7, p)
            ^ entry(t6, q)
            ^ entry(t5, r)
            ^ entry(t4, s)
            ^ entry(t3, e)
            ^ entry(t2, f)
            ^ entry(t1, g)
            ^ entry(t0, h);
    }
    let [table, ..] = &TABLES;
    for byte in tail {
        let [low, ..] = crc.to_le_bytes();
        crc = crc >> 8 ^ entry(table, low ^ byte);
    }
    !crc
}

fn entry(table: &[u32; 256], index: u8) -> u32 {
    table.get(usize::from(index)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn checksums_match_rfc_3720() {
        assert_eq!(checksum(b"123456789"), 0xe306_9283);
        assert_eq!(checksum(&[0; 32]), 0x8a91_36aa);
        assert_eq!(checksum(&[0xff; 32]), 0x62a8_ab43);
        let ascending: Vec<u8> = (0..32).collect();
        assert_eq!(checksum(&ascending), 0x46dd_794e);
        assert_eq!(checksum(&[]), 0);
    }
}
