import type { Passage, PassageHit, PassageIndex } from '#domain/passage-index.ts';
import type { ReadFile } from './await-readings.ts';

const mostGiven = 6;
/** Of documents that are shown whole: what is marked as being to the point. */
const mostMarked = 3;

/** Passages that follow each other, for the model to read. */
export interface GivenPassage {
  readonly file: ReadFile;
  readonly passages: readonly Passage[];
  /** The one that was found, with its number; undefined for what is shown beside. */
  readonly found: { readonly passage: Passage; readonly number: number } | undefined;
}

export interface Gathering {
  readonly index: PassageIndex;
  readonly read: readonly ReadFile[];
  /** Best first. */
  readonly hits: readonly PassageHit[];
}

/** The best passages, each with its neighbours of the same section, none twice. Throws StoreFault. */
export async function gatherPassages({ index, read, hits }: Gathering): Promise<GivenPassage[]> {
  const given: GivenPassage[] = [];
  const shown = new Set<string>();
  for (const { document, nth } of hits) {
    const file = fileOf(read, document);
    if (given.length === mostGiven) break;
    if (file === undefined || shown.has(`${document} ${nth}`)) continue;
    const around = await index.read(document, nth - 1, nth + 2);
    const passage = around.find((each) => each.nth === nth);
    if (passage === undefined) continue;
    const section = around.filter((each) => isOfSection(each, passage) && !shown.has(`${document} ${each.nth}`));
    for (const each of section) shown.add(`${document} ${each.nth}`);
    given.push({ file, passages: section, found: { passage, number: given.length + 1 } });
  }
  return given;
}

/** All there is, in order, with the best passages marked. Throws StoreFault. */
export async function gatherWhole({ index, read, hits }: Gathering): Promise<GivenPassage[]> {
  const marked = hits.slice(0, mostMarked);
  const documents = await Promise.all(
    read.map(async (file) => ({ file, passages: await index.read(file.document.id, 0, file.document.passages) })),
  );
  const given: GivenPassage[] = [];
  for (const { file, passages } of documents) {
    for (const passage of passages) {
      const isMarked = marked.some(({ document, nth }) => document === file.document.id && nth === passage.nth);
      const number = given.filter(({ found }) => found !== undefined).length + 1;
      given.push({ file, passages: [passage], found: isMarked ? { passage, number } : undefined });
    }
  }
  return given;
}

/** Two files may have the same content; the first is cited. */
function fileOf(read: readonly ReadFile[], document: string): ReadFile | undefined {
  return read.find((file) => file.document.id === document);
}

function isOfSection(one: Passage, other: Passage): boolean {
  return one.headings.length === other.headings.length && one.headings.every((heading, at) => heading === other.headings[at]);
}
