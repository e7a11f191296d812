import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { tryParseJson } from '#base/json.ts';
import { parseJsonc } from '#configuration/parse-jsonc.ts';
import { parseYaml } from '#configuration/parse-yaml.ts';
import type { ParsedText } from '#configuration/parsed-text.ts';
import { ParleyError } from '#contract/errors.ts';
import { casesOfCsv } from '#contract/evaluation/csv-cases.ts';
import type { EvaluationCase } from '#contract/evaluation/evaluation-case.ts';
import { parseCases } from '#contract/evaluation/parse-cases.ts';

/** Why cases cannot be had, or put. The message may be shown. */
export class EvaluateFault extends Error {
  override readonly name = 'EvaluateFault';
}

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  '.json': (text) => parsedValue(parseJsonc(text)),
  '.jsonc': (text) => parsedValue(parseJsonc(text)),
  '.yaml': (text) => parsedValue(parseYaml(text)),
  '.yml': (text) => parsedValue(parseYaml(text)),
  '.jsonl': linesOf,
  '.csv': casesOfCsv,
};

/** The cases of a file, whose name says what it is. Throws EvaluateFault. */
export async function readCases(file: string): Promise<readonly EvaluationCase[]> {
  const read = readers[extname(file).toLowerCase()];
  if (read === undefined) throw new EvaluateFault(`${file}: must have a name that ends in ${Object.keys(readers).join(', ')}`);
  try {
    return parseCases(read((await readFile(file, 'utf8')).replace(/^\uFEFF/, '')));
  } catch (thrown) {
    const isKnown =
      thrown instanceof EvaluateFault || thrown instanceof ParleyError || (thrown instanceof Error && 'syscall' in thrown);
    if (!isKnown) throw thrown;
    throw new EvaluateFault(`${file}: ${thrown.message}`, { cause: thrown });
  }
}

function parsedValue(parsed: ParsedText): unknown {
  if ('value' in parsed) return parsed.value;
  const [first] = parsed.faults;
  throw new EvaluateFault(`line ${first?.line}, column ${first?.column}: ${first?.message}`);
}

function linesOf(text: string): readonly unknown[] {
  return text.split('\n').flatMap((line, nth) => {
    if (line.trim() === '') return [];
    const value = tryParseJson(line);
    if (value === undefined) throw new EvaluateFault(`line ${nth + 1}: is not JSON`);
    return [value];
  });
}
