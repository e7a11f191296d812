import { isJsonObject, parseJson } from '../json.ts';

/** Numbers of a model by name, as they lie in its file: 16 bits each. */
export type Weights = (name: string) => Uint16Array;

/** Reads a file in the form of safetensors whose numbers have 16 bits. Throws if it lacks what is asked for. */
export function readWeights(file: Uint8Array): Weights {
  const headLength = Number(new DataView(file.buffer, file.byteOffset, 8).getBigUint64(0, true));
  const head = parseJson(new TextDecoder().decode(file.subarray(8, 8 + headLength)));
  return (name) => {
    const described = isJsonObject(head) ? head[name] : undefined;
    const { dtype, data_offsets: offsets } = isJsonObject(described) ? described : {};
    if (dtype !== 'F16' || !Array.isArray(offsets)) throw new Error(`the model has no 16 bit numbers named ${name}`);
    const [from = 0, to = 0] = offsets.map((offset) => file.byteOffset + 8 + headLength + Number(offset));
    return new Uint16Array(file.buffer.slice(from, to));
  };
}

/** What numbers of 16 bits stand for, as IEEE 754 has it: by their bits. */
export function halfNumbers(): Float32Array {
  return Float32Array.from({ length: 65_536 }, (_, bits) => fromHalf(bits));
}

function fromHalf(bits: number): number {
  const sign = bits >> 15 === 0 ? 1 : -1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return exponent === 31 ? Number.NaN : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
