import type { Passage, PassageHit, PassageIndex } from '#domain/tools/passage-index.ts';
import type { ReadFile } from './await-readings.ts';

const mostGiven = 6;

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
    const quoted = around.find((each) => each.nth === nth);
    if (quoted === undefined) continue;
    const passages = around.filter((each) => isOfSection(each, quoted) && !shown.has(`${document} ${each.nth}`));
    for (const each of passages) shown.add(`${document} ${each.nth}`);
    given.push({ file, passages, quoted, isBest: given.length === 0 });
  }
  return given;
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
