import type { Passage, PassageIndex } from '#domain/tools/passage-index.ts';
import type { ReadFile } from './await-readings.ts';
import type { ScoredHit } from './searching/passage-search.ts';

/** Passages under one number: what is quoted to the user is one of them. */
const mostJoined = 6;

/** Passages that follow each other, for the model to read under one number. */
export interface GivenPassage {
  readonly file: ReadFile;
  /** At least one. */
  readonly passages: readonly Passage[];
  /** The one among them that is quoted to the user. */
  readonly quoted: Passage;
  /** Whether it was found first. */
  readonly isBest: boolean;
}

export interface Gathering {
  readonly index: PassageIndex;
  readonly read: readonly ReadFile[];
  /** Best first. */
  readonly hits: readonly ScoredHit[];
}

export interface GatheringBounds {
  /** How many that were found are given at most, their neighbours beside. */
  readonly passages: number;
  /** What fits less is left out: from 0 to 1. */
  readonly minScore: number;
}

/** The best passages with their neighbours of the same section, none twice; those that follow each other are joined. Throws StoreFault. */
export async function gatherPassages({ index, read, hits }: Gathering, bounds: GatheringBounds): Promise<GivenPassage[]> {
  const given: GivenPassage[] = [];
  const shown = new Set<string>();
  let left = bounds.passages;
  for (const { document, nth, score } of hits) {
    if (left === 0) break;
    const file = fileOf(read, document);
    if (file === undefined || score < bounds.minScore || shown.has(`${document} ${nth}`)) continue;
    const around = await index.read(document, nth - 1, nth + 2);
    const quoted = around.find((each) => each.nth === nth);
    if (quoted === undefined) continue;
    const passages = around.filter((each) => isOfSection(each, quoted) && !shown.has(`${document} ${each.nth}`));
    for (const each of passages) shown.add(`${document} ${each.nth}`);
    put(given, { file, passages, quoted, isBest: given.length === 0 });
    left -= 1;
  }
  return given;
}

/** What follows something that is given already, or comes before it, is given with that. */
function put(given: GivenPassage[], next: GivenPassage): void {
  const at = given.findIndex((each) => isBeside(each, next));
  const neighbour = given[at];
  if (neighbour === undefined) given.push(next);
  else {
    const passages = [...neighbour.passages, ...next.passages].toSorted((one, other) => one.nth - other.nth);
    given[at] = { ...neighbour, passages };
  }
}

function isBeside(one: GivenPassage, other: GivenPassage): boolean {
  if (one.file !== other.file || one.passages.length + other.passages.length > mostJoined) return false;
  if (one.quoted.page !== other.quoted.page || !isOfSection(one.quoted, other.quoted)) return false;
  const follows = (first: GivenPassage, second: GivenPassage) =>
    first.passages.at(-1)?.nth === (second.passages[0]?.nth ?? 0) - 1;
  return follows(one, other) || follows(other, one);
}

/** All there is, in order. Throws StoreFault. */
export async function gatherWhole({ index, read, hits: [best] }: Gathering): Promise<GivenPassage[]> {
  const documents = await Promise.all(
    read.map(async (file) => ({ file, passages: await index.read(file.document.id, 0, file.document.passages) })),
  );
  const given = documents.flatMap(({ file, passages }) => passages.map((passage) => ({ file, passage })));
  const found = given.findIndex(({ file, passage }) => file.document.id === best?.document && passage.nth === best.nth);
  return given.map(({ file, passage }, at) => ({ file, passages: [passage], quoted: passage, isBest: at === found }));
}

/** Two files may have the same content; the first is cited. */
function fileOf(read: readonly ReadFile[], document: string): ReadFile | undefined {
  return read.find((file) => file.document.id === document);
}

function isOfSection(one: Passage, other: Passage): boolean {
  return one.headings.length === other.headings.length && one.headings.every((heading, at) => heading === other.headings[at]);
}
