import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Path } from '#contract/configuration/issue.ts';

/**
 * Returns the line of the value at a path, and the number of path steps that exist. Falls back to the closest existing parent.
 */
export type FindLine = (path: Path) => { readonly line: number; readonly depth: number };

/** Returns a line finder for a valid JSON text. It parses the text on the first call. */
export function createJsonLineFinder(text: string): FindLine {
  let root: ReturnType<typeof parseTree> | undefined;
  return (path) => {
    root ??= parseTree(text, [], { allowTrailingComma: true });
    for (let depth = path.length; depth > 0 && root !== undefined; depth -= 1) {
      const node = findNodeAtLocation(root, path.slice(0, depth) as (string | number)[]);
      const offset = node?.parent?.type === 'property' ? node.parent.offset : node?.offset;
      if (offset !== undefined) return { line: getLineAt(text, offset), depth };
    }
    return { line: 1, depth: 0 };
  };
}

function getLineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** Returns a line finder for a YAML text. A value from an alias or a merge key has the line of the closest key in the text. */
export function createYamlLineFinder(text: string): FindLine {
  const lineCounter = new LineCounter();
  let root: unknown;
  return (path) => {
    root ??= parseDocument(text, { version: '1.1', lineCounter, logLevel: 'silent', prettyErrors: false }).contents;
    let offset = 0;
    let depth = 0;
    for (let node = root; depth < path.length; depth += 1) {
      const step = stepInto(node, path[depth]);
      if (step === undefined) break;
      offset = step.offset;
      node = step.node;
    }
    return { line: lineCounter.linePos(offset).line, depth };
  };
}

interface Step {
  readonly node: unknown;
  readonly offset: number;
}

function stepInto(node: unknown, key: string | number | undefined): Step | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(key)];
    return hasRange(item) ? { node: item, offset: item.range[0] } : undefined;
  }
  if (!isMap(node)) return undefined;
  const match = node.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(key));
  return match !== undefined && hasRange(match.key) ? { node: match.value, offset: match.key.range[0] } : undefined;
}

function hasRange(node: unknown): node is { readonly range: readonly [number, number, number] } {
  return typeof node === 'object' && node !== null && !isAlias(node) && 'range' in node && Array.isArray(node.range);
}
