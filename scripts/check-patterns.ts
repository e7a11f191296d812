/**
 * Finds every regular expression of src, web/src, and web/worker in the syntax tree. The check fails for a pattern that is built
 * at run time, or that may take more than linear time by backtracking or by searching from every position. A comment above the
 * pattern with a bound of the text, or another reason, exempts it: `// Pattern bound: at most 64 characters, a header field.`
 */

import { globSync, readFileSync } from 'node:fs';
import { type AST, RegExpParser } from '@eslint-community/regexpp';
import { getConsumedChars, getFirstConsumedChar, isPotentiallyEmpty } from 'regexp-ast-analysis';
import { analyse, type ParsedLiteral } from 'scslre';
import ts from 'typescript';

const bound = /\/\/ Pattern bound: .*\S/;
const linesAbove = 3;

/** Patterns that blocked a node in the past. The check fails if it no longer finds one of them. */
const knownBad = [
  String.raw`/^\P{L}*(?:\p{N}\P{L}*){4,}$/u`,
  String.raw`/\.([a-z0-9]{1,5})(?:[?#].*)?$/i`,
  '/^```(?:json)?\\s*\\n([\\s\\S]*?)\\n?```$/i',
  String.raw`/(\d[\d,]*) (?:tokens )?max/i`,
];

let patterns = 0;
const errors = knownBad.filter((literal) => findProblem(literal) === undefined).map((literal) => `not found: ${literal}`);

for (const path of globSync(['src/**/*.ts', 'web/src/**/*.{ts,tsx}', 'web/worker/**/*.ts'])) {
  if (!path.includes('.test.')) checkFile(path, readFileSync(path, 'utf8'));
}
for (const error of errors) console.error(error);
if (patterns === 0) console.error('no pattern was found');
if (errors.length > 0 || patterns === 0) process.exit(1);
console.log(`patterns: ${patterns} regular expressions, each linear or bounded`);

function checkFile(path: string, text: string): void {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lines = text.split('\n');
  const visit = (node: ts.Node): void => {
    const problem = ts.isRegularExpressionLiteral(node) ? findProblem(node.text) : findDynamic(node);
    if (ts.isRegularExpressionLiteral(node)) patterns += 1;
    if (problem !== undefined) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      const isBounded = lines.slice(Math.max(0, line - linesAbove), line).some((text) => bound.test(text));
      if (!isBounded) errors.push(`${path}:${line + 1} ${problem}: ${node.getText()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
}

/** Returns why a literal may take more than linear time, or undefined if it cannot. */
function findProblem(literal: string): string | undefined {
  const end = literal.lastIndexOf('/');
  const { reports } = analyse({ source: literal.slice(1, end), flags: literal.slice(end + 1) } as never as ParsedLiteral, {
    assumeRejectingSuffix: false,
  });
  if (reports.some(({ exponential }) => exponential)) return 'can take exponential time';
  if (reports.length > 0) return 'can take polynomial time';
  const repetition = findRestart(literal);
  return repetition === undefined ? undefined : `may search ${repetition} again from every position`;
}

/**
 * Returns a repetition that a search without an anchor may run through from many positions: it can fail after the repetition,
 * and a match can start inside of it. An example is `\.a.*$` on `.a.a.a…`.
 */
function findRestart(literal: string): string | undefined {
  const { pattern, flags } = new RegExpParser().parseLiteral(literal);
  if (flags.sticky) return undefined;
  for (const alternative of pattern.alternatives) {
    const [first] = alternative.elements;
    if (first?.type === 'Assertion' && first.kind === 'start' && !flags.multiline) continue;
    const starts = getFirstConsumedChar(alternative, 'ltr', flags).char;
    const match = listRepetitions(alternative).find(
      (repetition) => canFailAfter(repetition) && !getConsumedChars(repetition.element, flags).chars.isDisjointWith(starts),
    );
    if (match !== undefined) return match.raw;
  }
  return undefined;
}

function listRepetitions(node: AST.Alternative | AST.Element): AST.Quantifier[] {
  switch (node.type) {
    case 'Quantifier':
      return [...(node.max === Infinity ? [node] : []), ...listRepetitions(node.element)];
    case 'Alternative':
      return node.elements.flatMap(listRepetitions);
    case 'Group':
    case 'CapturingGroup':
      return node.alternatives.flatMap(listRepetitions);
    default:
      return [];
  }
}

function canFailAfter(node: AST.Node): boolean {
  const { parent } = node;
  if (parent === null) return false;
  const after = parent.type === 'Alternative' ? parent.elements.slice(parent.elements.indexOf(node as AST.Element) + 1) : [];
  return after.some((element) => element.type === 'Assertion' || !isPotentiallyEmpty(element, {})) || canFailAfter(parent);
}

function findDynamic(node: ts.Node): string | undefined {
  const isRegExp =
    (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
    ts.isIdentifier(node.expression) &&
    node.expression.text === 'RegExp';
  return isRegExp ? 'is built at run time' : undefined;
}
