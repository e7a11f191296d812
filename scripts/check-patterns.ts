import { globSync, readFileSync } from 'node:fs';
import { analyse, type ParsedLiteral } from 'scslre';
import ts from 'typescript';

/**
 * Finds every regular expression of src, web/src, and web/worker by the syntax tree and fails for each that can backtrack more than
 * linearly. One that runs on short text only, or that is built at run time, needs a comment above it that gives the bound:
 * `// Pattern bound: at most 64 characters, a header field.`
 */
const bound = /\/\/ Pattern bound: .*\S/;
const linesAbove = 3;

let patterns = 0;
const faults: string[] = [];

for (const path of globSync(['src/**/*.ts', 'web/src/**/*.{ts,tsx}', 'web/worker/**/*.ts'])) {
  if (!path.includes('.test.')) checkFile(path, readFileSync(path, 'utf8'));
}
for (const fault of faults) console.error(fault);
if (patterns === 0) console.error('no pattern was found');
if (faults.length > 0 || patterns === 0) process.exit(1);
console.log(`patterns: ${patterns} regular expressions, each linear or bounded`);

function checkFile(path: string, text: string): void {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lines = text.split('\n');
  const visit = (node: ts.Node): void => {
    const problem = ts.isRegularExpressionLiteral(node) ? findProblem(node.text) : findDynamic(node);
    if (ts.isRegularExpressionLiteral(node)) patterns += 1;
    if (problem !== undefined) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      const isBounded = lines.slice(Math.max(0, line - linesAbove), line).some((each) => bound.test(each));
      if (!isBounded) faults.push(`${path}:${line + 1} ${problem}: ${node.getText()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
}

/** Returns why a literal is not linear; undefined if it is. */
function findProblem(literal: string): string | undefined {
  const end = literal.lastIndexOf('/');
  const { reports } = analyse({ source: literal.slice(1, end), flags: literal.slice(end + 1) } as never as ParsedLiteral, {
    assumeRejectingSuffix: false,
  });
  const [first] = reports;
  if (first === undefined) return undefined;
  return `can take ${reports.some(({ exponential }) => exponential) ? 'exponential' : 'polynomial'} time`;
}

function findDynamic(node: ts.Node): string | undefined {
  const isRegExp =
    (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
    ts.isIdentifier(node.expression) &&
    node.expression.text === 'RegExp';
  return isRegExp ? 'is built at run time' : undefined;
}
