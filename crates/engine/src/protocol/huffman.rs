//! The Huffman code of HPACK and QPACK (RFC 7541 §5.2 and Appendix B), read.
//!
//! The code is canonical: codes of one length are assigned in the order of their symbols. So the lengths say all, and reading is a
//! search for the length by which the next bits are a code. Only reading is here: what is sent is encoded once and sent as it is, so that
//! shorter bytes save nobody anything.

/// The lengths of the codes of all bytes (RFC 7541 Appendix B).
const LENGTHS: [u8; 256] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28, //
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, //
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, //
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, //
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, //
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, //
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, //
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, //
];

const SHORTEST: usize = 5;
const LONGEST: usize = 30;

/// The codes of each length: all that begin with less than `end`, and were not of a shorter one.
struct Code {
    /// Behind the last code of this length, at the left of 32 bits.
    end: [u64; LONGEST + 1],
    /// The first code of this length, likewise.
    first: [u64; LONGEST + 1],
    /// How many symbols have shorter codes.
    before: [u16; LONGEST + 1],
    /// Symbols by their codes.
    symbols: [u8; 256],
}

static CODE: Code = code();

const fn code() -> Code {
    let mut code = Code { end: [0; LONGEST + 1], first: [0; LONGEST + 1], before: [0; LONGEST + 1], symbols: [0; 256] };
    let (mut next, mut placed, mut length) = (0_u64, 0_usize, SHORTEST);
    while length <= LONGEST {
        code.first[length] = next;
        code.before[length] = placed as u16;
        let mut symbol = 0;
        while symbol < 256 {
            if LENGTHS[symbol] as usize == length {
                code.symbols[placed] = symbol as u8;
                placed += 1;
                next += 1 << (32 - length);
            }
            symbol += 1;
        }
        code.end[length] = next;
        length += 1;
    }
    code
}

/// Appends what these bytes stand for, unless that makes `out` longer than `longest`.
///
/// # Errors
/// `Err(())` if they hold the end of string, or end with anything but fewer than eight bits of it.
pub(super) fn read(bytes: &[u8], out: &mut Vec<u8>, longest: usize) -> Result<(), ()> {
    let (mut bits, mut count, mut rest) = (0_u64, 0_usize, bytes.iter());
    loop {
        while count <= 32 {
            let Some(byte) = rest.next() else { break };
            bits |= u64::from(*byte) << (56 - count);
            count += 8;
        }
        let window = bits >> 32;
        let Some(length) = (SHORTEST..=LONGEST.min(count)).find(|length| window < CODE.end[*length]) else {
            // Padding is the beginning of the code of the end of string, which is ones alone.
            let is_padding = count < 8 && (count == 0 || bits >> (64 - count) == (1 << count) - 1);
            return if is_padding { Ok(()) } else { Err(()) };
        };
        let place = CODE.before[length] as usize + ((window - CODE.first[length]) >> (32 - length)) as usize;
        if out.len() == longest {
            return Err(());
        }
        out.push(CODE.symbols[place]);
        bits <<= length;
        count -= length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Result<Vec<u8>, ()> {
        let mut out = Vec::new();
        read(bytes, &mut out, 1000).map(|()| out)
    }

    #[test]
    fn the_examples_of_the_standard_are_read() {
        // RFC 7541 Appendix C.4 and C.6.
        for (bytes, said) in [
            (&[0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff][..], "www.example.com"),
            (&[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf], "no-cache"),
            (&[0x64, 0x02], "302"),
            (
                &[0x9d, 0x29, 0xad, 0x17, 0x18, 0x63, 0xc7, 0x8f, 0x0b, 0x97, 0xc8, 0xe9, 0xae, 0x82, 0xae, 0x43, 0xd3],
                "https://www.example.com",
            ),
            (
                &[
                    0xd0, 0x7a, 0xbe, 0x94, 0x10, 0x54, 0xd4, 0x44, 0xa8, 0x20, 0x05, 0x95, 0x04, 0x0b, 0x81, 0x66, 0xe0, 0x82, 0xa6, 0x2d,
                    0x1b, 0xff,
                ],
                "Mon, 21 Oct 2013 20:13:21 GMT",
            ),
            (&[], ""),
        ] {
            assert_eq!(text(bytes).as_deref(), Ok(said.as_bytes()));
        }
    }

    #[test]
    fn every_byte_is_read_and_padding_is_ones_and_short() {
        let mut all = std::collections::BTreeSet::new();
        for length in SHORTEST..=LONGEST {
            for place in CODE.before[length]..CODE.before.get(length + 1).copied().unwrap_or(256) {
                let code = CODE.first[length] + (u64::from(place - CODE.before[length]) << (32 - length));
                // The code, and ones behind it.
                let ones = (1_u64 << (32 - length)) - 1;
                let bytes = u32::try_from(code | ones).unwrap().to_be_bytes();
                let used = length.div_ceil(8);
                let symbol = CODE.symbols[place as usize];
                assert_eq!(text(&bytes[..used]), Ok(vec![symbol]), "{symbol}");
                all.insert(symbol);
            }
        }
        assert_eq!(all.len(), 256);
        // Zeros behind "0", eight ones, and the end of string itself.
        for wrong in [&[0b0000_0000][..], &[0b0000_0111, 0xff], &[0xff, 0xff, 0xff, 0xff]] {
            assert_eq!(text(wrong), Err(()), "{wrong:x?}");
        }
        assert_eq!(read(&[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf], &mut Vec::new(), 7), Err(()));
    }
}
