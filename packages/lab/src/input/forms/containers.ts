/**
 * Files that hold data in a format of their own: compressed, packed, encrypted or with a header. Their bytes are not the
 * bits of a generator. Compressed and encrypted data even pass the tests, whatever they were made from.
 *
 * A row is a signature of 4 bytes or more, or a shorter one with a check of what follows, so that random bytes are hardly
 * taken for one: 6 · 10^-10 for all rows together (`containerOdds`).
 */
import { beginsDeflate } from './deflate.ts';
import { fits, oddsOf, type Pattern, parsePattern } from './signature.ts';

interface Container {
  readonly name: string;
  /** With its article, if it needs one. */
  readonly is: string;
  /** A command that writes the content to standard output, `FILE` stands for the name; null if none gives bits. */
  readonly command: string | null;
}

interface Row extends Container {
  readonly patterns: readonly Pattern[];
  readonly check?: Check;
}

interface Check {
  readonly passes: (head: Uint8Array) => boolean;
  /** Probability that random bytes that fit the pattern pass, at most. */
  readonly odds: number;
}

/** Returns the container that begins with these bytes, or `null`. */
export function containerOf(head: Uint8Array): Container | null {
  const fitting = ({ patterns, check }: Row): boolean =>
    patterns.some((pattern) => fits(pattern, head)) && (check?.passes(head) ?? true);
  return ROWS.find(fitting) ?? null;
}

/** Returns the probability that random bytes are taken for a container, at most. */
export function containerOdds(): number {
  return ROWS.reduce((sum, { patterns, check }) => {
    const odds = patterns.reduce((all, pattern) => all + oddsOf(pattern), 0);
    return sum + odds * (check?.odds ?? 1);
  }, 0);
}

function row(
  name: string,
  is: string,
  command: string | null,
  patterns: readonly string[],
  check?: Check,
): Row {
  return { name, is, command, patterns: patterns.map(parsePattern), ...(check && { check }) };
}

/** A tar without a magic, and that of POSIX: the sum of the first 512 bytes, its own field counted as spaces. */
const TAR: Check = {
  odds: 2 ** -17,
  passes: (head) => {
    if (head.length < 512) return false;
    const stated = Number.parseInt(textOf(head, 148, 156).trim(), 8);
    const sum = head.subarray(0, 512).reduce((total, byte) => total + byte, 0);
    const field = head.subarray(148, 156).reduce((total, byte) => total + byte, 0);
    return sum - field + 8 * 0x20 === stated;
  },
};

/** A JPEG has a segment of a known name, or a second segment where the first one ends. */
const JPEG: Check = {
  odds: 2 ** -14,
  passes: (head) => {
    if (/^(?:JFIF|JFXX|Exif|ICC_|http|Adob|Phot)/.test(textOf(head, 6, 10))) return true;
    const next = 4 + ((head[4] as number) << 8) + (head[5] as number);
    return head[next] === 0xff && (head[next + 1] ?? 0) >= 0xc0 && head[next + 1] !== 0xff;
  },
};

/** compress: codes of 9 bits, least significant first, none above those that the ones before it define. */
const COMPRESS: Check = {
  odds: 2 ** -22,
  passes: (head) => {
    const codes = 24;
    if (head.length < 3 + Math.ceil((9 * codes) / 8)) return false;
    for (let i = 0; i < codes; i++) {
      const bit = 9 * i;
      const at = 3 + (bit >>> 3);
      const code = (((head[at] as number) | ((head[at + 1] as number) << 8)) >>> (bit & 7)) & 0x1ff;
      if (code > 256 + i || (i === 0 && code > 255)) return false;
    }
    return true;
  },
};

/** An executable of Windows: the address of its second header. */
const PORTABLE_EXECUTABLE: Check = {
  odds: 2 ** -40,
  passes: (head) => {
    const at = numberAt(head, 0x3c);
    return at <= head.length - 4 && textOf(head, at, at + 4) === 'PE\0\0';
  },
};

const ZLIB: Check = { odds: 2 ** -22, passes: (head) => beginsDeflate(head, 2) };

/** A compressed packet of OpenPGP with deflate, zlib or bzip2 (RFC 4880 §5.6). */
const PGP_COMPRESSED: Check = {
  odds: 2 ** -22,
  passes: (head) => {
    if (head[1] === 1) return beginsDeflate(head, 2);
    if (head[1] === 3) return /^BZh[1-9]1AY/.test(textOf(head, 2, 9));
    return head[2] === 0x78 && beginsDeflate(head, 4);
  },
};

const ZSTD_SKIPPABLE: Check = {
  odds: 2 ** -32,
  passes: (head) => numberAt(head, 8 + numberAt(head, 4)) === 0xfd2fb528,
};

const MATROSKA: Check = {
  odds: 2 ** -26,
  passes: (head) => /matroska|webm/.test(textOf(head, 4, 64)),
};

/** Sizes, and the largest value, or the name of the first field. */
const NETPBM: Check = {
  odds: 2 ** -19,
  passes: (head) =>
    /^P[4-6]\s(?:#[ -~]*\n)*\d+\s+(?:#[ -~]*\n)*\d+\s|^P7\nWIDTH /.test(textOf(head, 0, 256)),
};

/** The name of a member of the header stands near its start. */
const AVRO: Check = {
  odds: 2 ** -60,
  passes: (head) => /avro\.(?:schema|codec)/.test(textOf(head, 4, HEADER_BYTES)),
};

/** A header of text whose name ends with a zero byte, which no text has. */
const CPIO: Check = {
  odds: 2 ** -60,
  passes: (head) =>
    /^0707(?:07[0-7]{70}|0[12][0-9a-f]{104})[!-~]+\0/i.test(textOf(head, 0, HEADER_BYTES)),
};

const HEADER_BYTES = 1024;

function textOf(head: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...head.subarray(from, to));
}

/** Little-endian. */
function numberAt(head: Uint8Array, at: number): number {
  if (at + 4 > head.length) return Number.POSITIVE_INFINITY;
  return new DataView(head.buffer, head.byteOffset).getUint32(at, true);
}

const OCTAL = ' 30-37|20|00'.repeat(6);

const ROWS: readonly Row[] = [
  // Compressed.
  // RFC 1952 §2.3: deflate, no reserved flag, and 0, 2 or 4 for the effort of the compressor.
  row('gzip', 'gzip', 'gzip -dc FILE', ['1f 8b 08 00-1f ?? ?? ?? ?? 00|02|04']),
  row('xz', 'xz', 'xz -dc FILE', ["fd '7zXZ' 00"]),
  row('bzip2', 'bzip2', 'bzip2 -dc FILE', [
    "'BZh' 31-39 31 41 59 26 53 59",
    "'BZh' 31-39 17 72 45 38 50 90",
  ]),
  // RFC 8878 §3.1.1.1.1: the reserved bit is zero. pzstd begins with a skippable frame (§3.1.2).
  row('zstd', 'zstd', 'zstd -dc FILE', [
    '28 b5 2f fd 00-07|10-17|20-27|30-37|40-47|50-57|60-67|70-77|80-87|90-97|a0-a7|b0-b7|c0-c7|d0-d7|e0-e7|f0-f7',
  ]),
  row('zstd', 'zstd', 'zstd -dc FILE', ['50-5f 2a 4d 18'], ZSTD_SKIPPABLE),
  // Version 01, block sizes 4 to 7; and the legacy frame with its blocks below 8 MiB.
  row('lz4', 'lz4', 'lz4 -dc FILE', [
    '04 22 4d 18 40-7f 40|50|60|70',
    '02 21 4c 18 ?? ?? 00-7f 00',
  ]),
  // RFC 1950 §2.2: a window of 32 KiB without a dictionary.
  row('zlib', 'zlib', null, ['78 01|5e|9c|da'], ZLIB),
  row('lzma', 'lzma', 'xz -dc --format=lzma FILE', [
    '5d 00 00 00|01|02|04|08|10|20|40|80 00-08|10|20|40|80 ff ff ff ff ff ff ff ff 00',
    '5d 00 00 00|01|02|04|08|10|20|40|80 00-08|10|20|40|80 ?? ?? ?? ?? ?? 00 00 00 00',
  ]),
  row('lzip', 'lzip', 'lzip -dc FILE', ["'LZIP' 00|01 0c-fd"]),
  row('lzop', 'lzop', 'lzop -dc FILE', ["89 'LZO' 00 0d 0a 1a 0a"]),
  row('compress', 'compress (.Z)', 'gzip -dc FILE', ['1f 9d 09-10|89-90'], COMPRESS),
  row('snappy', 'snappy', null, ["ff 06 00 00 'sNaPpY'"]),
  // Archives.
  row('zip', 'a zip archive', 'unzip -p FILE', [
    "'PK' 03 04 00-3f 00-14 ?? ?? 00-63 00",
    "'PK' 05 06 00 00 00 00 00 00 00 00",
    "'PK' 07 08 'PK' 03 04",
    "'PK00PK' 03 04",
  ]),
  row('7z', 'a 7z archive', '7z x -so FILE', ["'7z' bc af 27 1c"]),
  row('rar', 'a RAR archive', 'unrar p -inul FILE', ["'Rar!' 1a 07 00", "'Rar!' 1a 07 01 00"]),
  row('tar', 'a tar archive', 'tar -xOf FILE', [`@148 ${OCTAL}`], TAR),
  row('cpio', 'a cpio archive', null, ["'0707' 30 31|32|37"], CPIO),
  row('ar', 'an ar archive', null, ["'!<arch>' 0a"]),
  row('rpm', 'an RPM package', null, ['ed ab ee db 03|04']),
  row('cab', 'a CAB archive', null, ["'MSCF' 00 00 00 00"]),
  row('lha', 'an LHA archive', null, ["@2 '-lh' 30-39 '-'", "@2 '-lz' 34|35|73 '-'"]),
  row('xar', 'a xar archive', null, ["'xar!' 00 1c"]),
  row('squashfs', 'a squashfs image', null, ["'hsqs' @28 04 00 00 00"]),
  // Encrypted.
  row('openssl', 'the output of openssl enc', null, ["'Salted__'"]),
  row('age', 'an age file', null, ["'age-encryption.org/'"]),
  // RFC 4880: a session key by passphrase (§5.3) or by a key of RSA with 2048, 3072 or 4096 bits, or of ECDH (§5.1).
  row('openpgp', 'an OpenPGP message', 'gpg -d FILE', [
    '8c|c3 0d 04 01-0d 03 01-0e @15 c9|d2|d4',
    '85 01 0c|8c 03 @12 01-02 07|08|0b|0c',
    '85 02 0c 03 @12 01-02 0f|10',
    '84 5e 03 @11 12 01 07 40',
    '84 7e 03 @11 12 02 03 04',
  ]),
  row('openpgp', 'an OpenPGP message', 'gpg -d FILE', ['a3 01-03'], PGP_COMPRESSED),
  // RFC 5652: an object identifier of PKCS #7 in a SEQUENCE.
  row('cms', 'a CMS (PKCS #7) message', null, [
    '30 80 06 09 2a 86 48 86 f7 0d 01 07',
    '30 82 ?? ?? 06 09 2a 86 48 86 f7 0d 01 07',
    '30 83 ?? ?? ?? 06 09 2a 86 48 86 f7 0d 01 07',
  ]),
  row('luks', 'a LUKS volume', null, ["'LUKS' ba be"]),
  // Documents and pictures.
  row('pdf', 'PDF', null, ["'%PDF-' 30-39"]),
  row('postscript', 'PostScript', null, ["'%!PS-Adobe'", 'c5 d0 d3 c6 1e 00 00 00']),
  row('ole', 'an Office document', null, ['d0 cf 11 e0 a1 b1 1a e1']),
  row('png', 'PNG', null, ["89 'PNG' 0d 0a 1a 0a"]),
  row('jpeg', 'JPEG', null, ['ff d8 ff c0-fe'], JPEG),
  row('jpeg', 'JPEG 2000', null, ["00 00 00 0c 'jP  ' 0d 0a 87 0a"]),
  row('gif', 'GIF', null, ["'GIF8' 37|39 'a'"]),
  row('bmp', 'BMP', null, [
    "'BM' ?? ?? ?? ?? 00 00 00 00 ?? ?? ?? 00 0c|28|34|38|40|6c|7c 00 00 00",
  ]),
  row('tiff', 'TIFF', null, [
    "'II*' 00 ?? ?? ?? 00-0f",
    "'MM' 00 '*' 00-0f",
    "'II+' 00 08 00 00 00",
    "'MM' 00 '+' 00 08 00 00",
  ]),
  row('netpbm', 'a Netpbm picture', null, ["'P' 34-37 0a|20"], NETPBM),
  // Sound and film.
  row('wav', 'WAV', null, ["'RIF' 46|58 ?? ?? ?? ?? 'WAVE'", "'RF64' ff ff ff ff 'WAVE'"]),
  row('riff', 'RIFF', null, ["'RIFF' ?? ?? ?? ?? 'AVI '", "'RIFF' ?? ?? ?? ?? 'WEBP'"]),
  row('aiff', 'AIFF', null, ["'FORM' ?? ?? ?? ?? 'AIF' 43|46"]),
  row('au', 'AU', null, ["'.snd' 00 00 00-0f ?? ?? ?? ?? ?? 00 00 00 01-1b"]),
  row('w64', 'Sony Wave64', null, ["'riff' 2e 91 cf 11 a5 d6 28 db"]),
  row('caf', 'a CAF sound', null, ["'caff' 00 01 00 00"]),
  row('flac', 'FLAC', null, ["'fLaC' 00|80 00 00 22"]),
  row('ogg', 'Ogg', null, ["'OggS' 00 00-07"]),
  row('mp3', 'MP3', null, ["'ID3' 02-04 00 00|40|80|c0 00-7f 00-7f 00-7f 00-7f"]),
  row('mp4', 'MP4', null, ["00 00 00 ?? 'ftyp'"]),
  row('matroska', 'Matroska', null, ['1a 45 df a3'], MATROSKA),
  // Data and programs.
  row('npy', 'an array of NumPy (.npy)', null, ["93 'NUMPY' 01-03 00"]),
  row('hdf5', 'HDF5', null, ["89 'HDF' 0d 0a 1a 0a"]),
  row('mat', 'a MAT-file', null, ["'MATLAB ' 35|37 '.'"]),
  row('netcdf', 'NetCDF', null, ["'CDF' 01|02|05 00 00 00|ff"]),
  row('fits', 'FITS', null, ["'SIMPLE  ='"]),
  row('dicom', 'DICOM', null, ["@128 'DICM' 02 00 00 00"]),
  row('tdms', 'TDMS', null, ["'TDSm' ?? 00 00 00"]),
  row('parquet', 'Parquet', null, ["'PAR1' 15 00|04|06"]),
  row('avro', 'Avro', null, ["'Obj' 01"], AVRO),
  row('arrow', 'Arrow', null, ["'ARROW1' 00 00", "'FEA1' 00 00 00 00"]),
  row('pickle', 'a Python pickle', null, [
    '80 04|05 95 ?? ?? ?? ?? ?? 00 00 00',
    // Large bytes stand outside a frame, up to 16 MiB here.
    '80 04 42 ?? ?? ?? 00',
  ]),
  row('sqlite', 'a SQLite database', null, ["'SQLite format 3' 00"]),
  row('pcap', 'a packet capture', null, [
    'd4|4d c3|3c b2 a1 02 00 04 00',
    'a1 b2 c3|3c d4|4d 00 02 00 04',
    '0a 0d 0d 0a ?? ?? ?? ?? 4d|1a 3c|2b 2b|3c 1a|4d',
  ]),
  row('elf', 'a program (ELF)', null, ["7f 'ELF' 01|02 01|02 01"]),
  row('pe', 'a program (PE)', null, ["'MZ'"], PORTABLE_EXECUTABLE),
  row('mach-o', 'a program (Mach-O)', null, [
    'ce|cf fa ed fe ?? 00 00 00|01',
    'ca fe ba be 00 00 00',
  ]),
  row('wasm', 'a WebAssembly module', null, ["00 'asm' 01 00 00 00"]),
];
