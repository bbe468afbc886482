/** The raster of a sequence in the page of `phm-lab assess --html`, and the PNG that it is written as. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inflateSync } from 'node:zlib';
import { aesCtr } from '../../../../test/support/lab/aes-stream.ts';
import { encodePng } from '../../src/report/html/png.ts';
import { rasterFigure, rasterSize } from '../../src/report/html/raster.ts';

/** Returns an AES-256-CTR stream: sound, and the same in every run. */
const stream = (length: number): Buffer => aesCtr(Buffer.alloc(32, 9), length);

describe('encodePng', () => {
  /** Returns the chunks of a PNG, by type. */
  function chunksOf(png: Buffer): Map<string, Buffer> {
    assert.equal(png.subarray(0, 8).toString('latin1'), '\x89PNG\r\n\x1a\n');
    const chunks = new Map<string, Buffer>();
    for (let at = 8; at < png.length; ) {
      const length = png.readUInt32BE(at);
      chunks.set(png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, at + 8 + length));
      at += length + 12;
    }
    return chunks;
  }

  it('decodes to the same bits, colours and size', () => {
    const pixels = stream(3 * 40);
    const chunks = chunksOf(Buffer.from(encodePng({ width: 24, height: 40, pixels }, [1, 2, 3])));
    assert.deepEqual([...chunks.keys()], ['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']);
    const header = chunks.get('IHDR') as Buffer;
    assert.deepEqual([header.readUInt32BE(0), header.readUInt32BE(4)], [24, 40]);
    assert.deepEqual([...header.subarray(8)], [1, 3, 0, 0, 0]);
    assert.deepEqual([...(chunks.get('PLTE') as Buffer)], [0, 0, 0, 1, 2, 3]);
    const lines = inflateSync(chunks.get('IDAT') as Buffer);
    assert.equal(lines.length, 4 * 40);
    for (let row = 0; row < 40; row++) {
      assert.deepEqual(
        [...lines.subarray(4 * row, 4 * row + 4)],
        [0, ...pixels.subarray(3 * row, 3 * row + 3)],
      );
    }
  });

  it('stores a picture of more than one block', () => {
    const pixels = stream(512 * 200);
    const chunks = chunksOf(
      Buffer.from(encodePng({ width: 4096, height: 200, pixels }, [1, 2, 3])),
    );
    assert.equal(inflateSync(chunks.get('IDAT') as Buffer).length, 513 * 200);
  });

  it('has the checksum from the standard for an empty IEND', () => {
    const png = encodePng({ width: 8, height: 1, pixels: Uint8Array.of(1) }, [0, 0, 0]);
    assert.equal(Buffer.from(png).subarray(-12).toString('hex'), '0000000049454e44ae426082');
  });

  it('refuses pixels that do not match its size', () => {
    const pixels = new Uint8Array(3);
    assert.throws(() => encodePng({ width: 8, height: 2, pixels }, [0, 0, 0]), RangeError);
    assert.throws(() => encodePng({ width: 12, height: 2, pixels }, [0, 0, 0]), RangeError);
  });

  it('receives an almost square raster of whole rows', () => {
    const sizes = [100, 1000, 65_536, 2 ** 20].map((bits) => Object.values(rasterSize(bits)));
    assert.deepEqual(sizes, [
      [8, 12],
      [32, 31],
      [256, 256],
      [256, 384],
    ]);
    const bytes = stream(125);
    const { text } = rasterFigure(bytes, 1000, 'sequence 1');
    const [, base64] = /src="data:image\/png;base64,([^"]*)"/.exec(text) ?? [];
    const lines = inflateSync(chunksOf(Buffer.from(base64, 'base64')).get('IDAT') as Buffer);
    assert.deepEqual([...lines.subarray(1, 5)], [...bytes.subarray(0, 4)]);
    assert.match(text, /The first 992 bits of sequence 1, 32 per row/);
  });
});
