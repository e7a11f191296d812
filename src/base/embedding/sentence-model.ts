import { closeSync, openSync, readSync } from 'node:fs';
import { isJsonObject, parseJson, toObject } from '../json/json.ts';
import { kernels } from './kernels.ts';
import { WordPieces } from './word-pieces.ts';

const [width, intermediateWidth, heads, layers] = [384, 1536, 12, 6];
const maxTokens = 256;
const pageBytes = 65_536;
/** Maximum absolute value of a stored weight. */
const weightLimit = 2047;
const sumLimit = 2 ** 31 - 2 ** 24;

/** Exports of scripts/embedding-kernels.assemblyscript. */
interface Kernels {
  quantize(x: number, out: number, scales: number, n: number, k: number, limit: number): void;
  multiply(
    ...pointers: [
      x: number,
      xScales: number,
      weights: number,
      scales: number,
      bias: number,
      out: number,
      n: number,
      k: number,
      m: number,
    ]
  ): void;
  gelu(x: number, count: number): void;
  addNormalize(x: number, addend: number, weight: number, bias: number, n: number, k: number): void;
  attend(rows: number, out: number, scratch: number, n: number, heads: number): void;
}

/** A matrix in the WebAssembly memory: m rows of k integers, with the scales of the rows and the bias. */
interface Matrix {
  readonly weights: number;
  readonly scales: number;
  readonly bias: number;
  readonly k: number;
  readonly m: number;
  /** Maximum absolute value of the integers that it can be multiplied with. */
  readonly limit: number;
}

interface Norm {
  readonly weight: number;
  readonly bias: number;
}

interface Layer {
  readonly attention: Matrix;
  readonly attentionOutput: Matrix;
  readonly attentionNorm: Norm;
  readonly intermediate: Matrix;
  readonly output: Matrix;
  readonly outputNorm: Norm;
}

/**
 * The MiniLM sentence model with 6 layers, which returns vectors of 384 numbers and length 1. Weights are 12-bit integers. Inputs
 * are quantized to as many bits as their sums allow, 12 or more. A processor multiplies eight such integers at a time, and the
 * vectors match those of the original model to three digits.
 */
export class SentenceModel {
  /** All IEEE 754 half-precision floats, indexed by their bits. */
  readonly #halfFloats = Float32Array.from({ length: 65_536 }, (_, bits) => fromHalf(bits));
  readonly #pieces: WordPieces;
  readonly #memory = new WebAssembly.Memory({ initial: 1 });
  readonly #kernels: Kernels;
  #used = pageBytes;
  readonly #wordEmbeddings: Uint16Array;
  readonly #positions: Float32Array;
  readonly #tokenType: Float32Array;
  readonly #inputNorm: Norm;
  readonly #layers: readonly Layer[];
  readonly #pointers: {
    readonly x: number;
    readonly wide: number;
    readonly out: number;
    readonly integers: number;
    readonly scales: number;
    readonly scratch: number;
  };

  /** `weightsPath` is the path of a file in the safetensors format. */
  constructor(weightsPath: string, vocabulary: ReadonlyMap<string, number>) {
    this.#pieces = new WordPieces(vocabulary);
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(kernels, 'base64')), {
      env: { memory: this.#memory },
    });
    this.#kernels = exports as Kernels;
    const readWeight = createWeightReader(weightsPath);
    this.#wordEmbeddings = readWeight('embeddings.word_embeddings.weight');
    this.#positions = this.#toNumbers(readWeight('embeddings.position_embeddings.weight'));
    this.#tokenType = this.#toNumbers(readWeight('embeddings.token_type_embeddings.weight'));
    this.#inputNorm = this.#readNorm(readWeight, 'embeddings.LayerNorm');
    this.#layers = Array.from({ length: layers }, (_, index) => this.#readLayer(readWeight, `encoder.layer.${index}`));
    const rows = maxTokens + 4;
    this.#pointers = {
      x: this.#allocate(rows * width * 4),
      wide: this.#allocate(rows * intermediateWidth * 4),
      out: this.#allocate(rows * width * 4),
      integers: this.#allocate(rows * intermediateWidth * 2),
      scales: this.#allocate(rows * 4),
      scratch: this.#allocate(rows * 65 * 4),
    };
  }

  embed(text: string): Float32Array {
    const ids = this.#pieces.tokenize(text, maxTokens);
    const count = ids.length;
    const { x } = this.#pointers;
    this.#write(ids);
    for (const layer of this.#layers) this.#run(layer, count);
    const rows = new Float32Array(this.#memory.buffer, x, count * width);
    const mean = new Float32Array(width);
    for (let index = 0; index < rows.length; index += 1) mean[index % width] = (mean[index % width] ?? 0) + (rows[index] ?? 0);
    const length = Math.hypot(...mean);
    return mean.map((value) => value / length);
  }

  /** Writes the normalized input embeddings of the pieces and their positions to `x`. */
  #write(ids: readonly number[]): void {
    const { x, out } = this.#pointers;
    const rows = new Float32Array(this.#memory.buffer, x, (ids.length + 1) * width);
    for (const [position, id] of ids.entries()) {
      const word = this.#toNumbers(this.#wordEmbeddings.subarray(id * width, (id + 1) * width));
      for (let index = 0; index < width; index += 1)
        rows[position * width + index] =
          (word[index] ?? 0) + (this.#positions[position * width + index] ?? 0) + (this.#tokenType[index] ?? 0);
    }
    new Float32Array(this.#memory.buffer, out, (ids.length + 1) * width).fill(0);
    this.#kernels.addNormalize(x, out, this.#inputNorm.weight, this.#inputNorm.bias, ids.length, width);
    // Rows are multiplied in pairs, so the row after the last must be zero.
    rows.fill(0, ids.length * width);
  }

  #run({ attention, attentionOutput, attentionNorm, intermediate, output, outputNorm }: Layer, count: number): void {
    const { x, wide, out, scratch } = this.#pointers;
    const { attend, addNormalize, gelu } = this.#kernels;
    this.#multiply(x, attention, { to: wide, count });
    attend(wide, out, scratch, count, heads);
    this.#multiply(out, attentionOutput, { to: wide, count });
    addNormalize(x, wide, attentionNorm.weight, attentionNorm.bias, count, width);
    this.#multiply(x, intermediate, { to: wide, count });
    gelu(wide, count * intermediateWidth);
    this.#multiply(wide, output, { to: out, count });
    addNormalize(x, out, outputNorm.weight, outputNorm.bias, count, width);
  }

  #multiply(x: number, { weights, scales, bias, k, m, limit }: Matrix, { to, count }: { to: number; count: number }): void {
    const { integers, scales: rowScales } = this.#pointers;
    const rows = count + (count % 2);
    this.#kernels.quantize(x, integers, rowScales, rows, k, limit);
    this.#kernels.multiply(integers, rowScales, weights, scales, bias, to, rows, k, m);
  }

  #readLayer(readWeight: ReadWeight, name: string): Layer {
    const parts = ['query', 'key', 'value'].map((part) => `${name}.attention.self.${part}`);
    return {
      attention: this.#readMatrix(readWeight, parts, width),
      attentionOutput: this.#readMatrix(readWeight, [`${name}.attention.output.dense`], width),
      attentionNorm: this.#readNorm(readWeight, `${name}.attention.output.LayerNorm`),
      intermediate: this.#readMatrix(readWeight, [`${name}.intermediate.dense`], width),
      output: this.#readMatrix(readWeight, [`${name}.output.dense`], intermediateWidth),
      outputNorm: this.#readNorm(readWeight, `${name}.output.LayerNorm`),
    };
  }

  /** Stacks several weight matrices vertically and quantizes them. */
  #readMatrix(readWeight: ReadWeight, names: readonly string[], k: number): Matrix {
    const parts = names.map((name) => readWeight(`${name}.weight`));
    const m = parts.reduce((sum, { length }) => sum + length, 0) / k;
    const [weights, scales] = [this.#allocate(m * k * 2), this.#allocate(m * 4)];
    const integers = new Int16Array(this.#memory.buffer, weights, m * k);
    const rowScales = new Float32Array(this.#memory.buffer, scales, m);
    let maxSum = 1;
    let row = 0;
    for (const part of parts)
      for (let from = 0; from < part.length; from += k, row += 1) {
        const numbers = this.#toNumbers(part.subarray(from, from + k));
        const { scale, sum } = quantizeRow(numbers, integers.subarray(row * k, (row + 1) * k));
        rowScales[row] = scale;
        maxSum = Math.max(maxSum, sum);
      }
    const bias = this.#storeFloats(names.flatMap((name) => [...this.#toNumbers(readWeight(`${name}.bias`))]));
    return { weights, scales, bias, k, m, limit: Math.min(32_767, Math.floor(sumLimit / maxSum)) };
  }

  #readNorm(readWeight: ReadWeight, name: string): Norm {
    return {
      weight: this.#storeFloats(this.#toNumbers(readWeight(`${name}.weight`))),
      bias: this.#storeFloats(this.#toNumbers(readWeight(`${name}.bias`))),
    };
  }

  #toNumbers(halves: Uint16Array): Float32Array {
    const numbers = new Float32Array(halves.length);
    for (let index = 0; index < halves.length; index += 1) numbers[index] = this.#halfFloats[halves[index] ?? 0] ?? 0;
    return numbers;
  }

  #storeFloats(values: ArrayLike<number>): number {
    const pointer = this.#allocate(values.length * 4);
    new Float32Array(this.#memory.buffer, pointer, values.length).set(values);
    return pointer;
  }

  #allocate(bytes: number): number {
    const pointer = this.#used;
    this.#used = Math.ceil((pointer + bytes) / 16) * 16;
    const missing = this.#used - this.#memory.buffer.byteLength;
    if (missing > 0) this.#memory.grow(Math.ceil(missing / pageBytes));
    return pointer;
  }
}

/** Quantizes a row to integers. Returns their scale and the sum of their absolute values. */
function quantizeRow(row: Float32Array, to: Int16Array): { readonly scale: number; readonly sum: number } {
  let maxValue = 1e-9;
  for (const value of row) maxValue = Math.max(maxValue, Math.abs(value));
  const scale = maxValue / weightLimit;
  let sum = 0;
  for (let index = 0; index < row.length; index += 1) {
    const integer = Math.round((row[index] ?? 0) / scale);
    to[index] = integer;
    sum += Math.abs(integer);
  }
  return { scale, sum };
}

/** Returns the numbers of a weight by its name, as 16-bit floats. */
type ReadWeight = (name: string) => Uint16Array;

/** Returns a reader for a safetensors file with 16-bit floats. The reader throws if the file does not contain the weight. */
function createWeightReader(path: string): ReadWeight {
  const headerLength = Number(new BigUint64Array(readBytes(path, 0, 8))[0]);
  const header = parseJson(new TextDecoder().decode(readBytes(path, 8, headerLength)));
  return (name) => {
    const described = isJsonObject(header) ? header[name] : undefined;
    const { dtype, data_offsets: offsets } = toObject(described);
    if (dtype !== 'F16' || !Array.isArray(offsets)) throw new Error(`the model file has no 16-bit weights named ${name}`);
    const [from = 0, to = 0] = offsets.map(Number);
    return new Uint16Array(readBytes(path, 8 + headerLength + from, to - from));
  };
}

/** Reads part of a file. The file is never in memory as a whole, because the garbage collector would keep its 45 MB for long. */
function readBytes(path: string, position: number, length: number): ArrayBuffer {
  const bytes = new Uint8Array(length);
  const file = openSync(path, 'r');
  try {
    if (readSync(file, bytes, { position }) < length) throw new Error(`${path} is incomplete`);
  } finally {
    closeSync(file);
  }
  return bytes.buffer;
}

function fromHalf(bits: number): number {
  const sign = bits >> 15 === 0 ? 1 : -1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return exponent === 31 ? Number.NaN : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
