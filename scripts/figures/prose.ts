import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/** Numbers of findings: unusual constructions by kind of text, unusual identifiers, and identifiers with banned words. */
export type ProseFigures = Record<'docs' | 'comments' | 'strings' | 'testNames' | 'identifiers' | 'bannedNames', number>;

/** Location of a construction, for `--list`. */
export interface Finding {
  readonly kind: keyof ProseFigures;
  readonly at: string;
  readonly text: string;
}

/** Constructions that make text hard to follow. CONTRIBUTING.md, Language, has the rules against them. */
const constructions: readonly RegExp[] = [
  // A sentence without its subject in front.
  /^(?:Of|What|Who|Whoever|Whose|Whom|By whom|By what|The same|None|Those who|As far|Such|More of)\b(?!.*\?$)/g,
  // A pronoun in place of the noun.
  /\bwhat\b(?![^.]*\?)/gi,
  /\b(?:he|those|one) who\b/gi,
  /\b(?:nobody|somebody|anybody|everybody|whoever|whatever|whichever|wherever)\b/gi,
  // A verb that is not meant literally.
  /\b(?:is|are|was|were|be|been) (?:told|asked|said|heard)\b/gi,
  /\b(?:tells|says) (?:what|how|that|whether|which|so|of|by|it)\b/gi,
  /\b(?:stands?|lies|rests|stood) (?:for|in|on|below|above|beside|behind|there|still|by|open)\b/gi,
  /\b(?:goes|go|went|gone) on\b/gi,
  /\blets? in\b/gi,
  /\bcom(?:e|es) of\b/gi,
  /\bbecomes of\b/gi,
  // Words that are no longer current.
  /\b(?:beside|anew|whom|seldom|hardly|shall|nor|hence|upon|alike|nevertheless)\b/gi,
  /\bmend(?:s|ed|ing)?\b/gi,
  /\b(?:any more|all the same|at once|for good|under way)\b/gi,
  /\bby (?:itself|himself|themselves|oneself)\b/gi,
  /\bof (?:its|their|one's|his|our) own\b/gi,
  // Relative clauses that hide the noun.
  /\b(?:by|to|from|on|in|with|of|for|under|at|into|without) (?:which|whom|whose|what)\b/gi,
  /\b(?:is|are|than|with|as|for|to|and|or|only) (?:that|those) of\b/gi,
  /\bnone (?:of|is|are|has|that|but)\b/gi,
  /, else\b/gi,
  /\bothers\b/gi,
  /;/g,
];

/** Identifiers that do not name a thing, such as participles. The usual words are in CONTRIBUTING.md, Language. */
const identifierForms: readonly RegExp[] = [
  /^(?:asked|told|said|given|kept|made|lost|shown|taken|begun|gone|left|heard|meant|wanted|thrown|chosen|written|known)$/,
  /^(?:most|least|longest|deepest|largest|fewest|shortest)[A-Z]/,
  /^[a-z]\w*[a-z]Of$/,
  /^(?:one|other|others|more|whole|some|nth|own|rest|both)$/,
  /(?:Told|Heard|Hears|Asked|Said|Unheard|Deaf|Untold|[Tt]rouble|[Hh]indrance|[Dd]oubt|[Bb]eginning|[Pp]atience|[a-z]Fault$|^fault$)/,
];

/** Words that were removed from nearly all identifiers. The limit of their figure prevents new ones. */
const bannedWords: ReadonlySet<string> = new Set(
  `asks beginning deaf doubt doubts faulty fewest happenings hear hears hindrance house life lose loses mute patience refuse refuses
  say sayings shortest takes teller tells thrown told trouble twin twins unheard untold whoever`.split(/\s+/),
);

const otherLanguages = /\/locales\/(?!en\/)/;
const minWords = 4;

/** Measures the docs, the comments, strings, and identifiers of src and web, and the names of tests. */
export function measureProse(): { readonly figures: ProseFigures; readonly findings: readonly Finding[] } {
  const findings: Finding[] = [];
  for (const path of globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md', 'bench/**/*.md'])) {
    if (path !== 'CHANGELOG.md' && !path.includes('node_modules')) findings.push(...readDocs(path));
  }
  for (const path of globSync(['src/**/*.ts', 'web/src/**/*.{ts,tsx}', 'web/worker/**/*.ts', 'test/**/*.ts'])) {
    if (!otherLanguages.test(path) && !path.includes('/fixtures/')) findings.push(...readSource(path));
  }
  const figures: ProseFigures = { docs: 0, comments: 0, strings: 0, testNames: 0, identifiers: 0, bannedNames: 0 };
  for (const { kind } of findings) figures[kind] += 1;
  return { figures, findings };
}

function* readDocs(path: string): Iterable<Finding> {
  let isCode = false;
  for (const [index, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    else if (!isCode && !line.startsWith('#')) {
      const text = line
        .replace(/`[^`]*`/g, 'CODE')
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/^\s*(?:[-*]|\d+\.) /, '');
      for (const cell of text.startsWith('|') ? text.split('|') : [text])
        yield* findIn(cell, { kind: 'docs', at: `${path}:${index + 1}` });
    }
  }
}

function* readSource(path: string): Iterable<Finding> {
  const text = readFileSync(path, 'utf8');
  const file = ts.createSourceFile(
    path,
    text,
    ts.ScriptTarget.Latest,
    true,
    path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  );
  const isTest = path.includes('.test.') || path.startsWith('test/');
  const at = (position: number): string => `${path}:${file.getLineAndCharacterOfPosition(position).line + 1}`;
  for (const { position, comment } of listComments(file, text)) yield* findIn(comment, { kind: 'comments', at: at(position) });
  const names = new Set<string>();
  const findings: Finding[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return;
    if (ts.isIdentifier(node)) names.add(node.text);
    const literal = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
    if (literal && node.text.split(/\s+/).filter((word) => /^[a-zA-Z]{2,}/.test(word)).length >= minWords)
      findings.push(...findIn(node.text, { kind: isTest ? 'testNames' : 'strings', at: at(node.getStart()) }));
    ts.forEachChild(node, visit);
  };
  visit(file);
  yield* findings;
  if (isTest) return;
  for (const name of names) {
    if (identifierForms.some((form) => form.test(name))) yield { kind: 'identifiers', at: path, text: name };
    if (name.split(/(?=[A-Z])|_/).some((word) => bannedWords.has(word.toLowerCase())))
      yield { kind: 'bannedNames', at: path, text: name };
  }
}

/** Lists the comments of a file. Each line comment is a separate text. */
function listComments(file: ts.SourceFile, text: string): readonly { readonly position: number; readonly comment: string }[] {
  const comments = new Map<number, string>();
  const visit = (node: ts.Node): void => {
    for (const range of [
      ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? []),
    ]) {
      const raw = text.slice(range.pos, range.end);
      if (!/^\/\/ ?(?:biome|@ts|#)/.test(raw))
        comments.set(range.pos, raw.replace(/^\/\*\*?|\*\/$|^\/\/+/g, '').replace(/^\s*\* ?/gm, ''));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return [...comments].map(([position, comment]) => ({ position, comment }));
}

function* findIn(text: string, { kind, at }: Pick<Finding, 'kind' | 'at'>): Iterable<Finding> {
  const plain = text
    .replace(/`[^`]*`/g, 'CODE')
    .replace(/\s+/g, ' ')
    .trim();
  for (const sentence of plain.split(/(?<=[.!?]) (?=[A-Z`"])/)) {
    for (const construction of constructions) {
      for (const _match of sentence.matchAll(construction)) yield { kind, at, text: sentence };
    }
  }
}
