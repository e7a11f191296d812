const week: ReadonlyMap<string, { readonly opens: string; readonly closes: string }> = new Map([
  ['monday', { opens: '14:00', closes: '19:00' }],
  ['tuesday', { opens: '10:00', closes: '19:00' }],
  ['wednesday', { opens: '10:00', closes: '21:00' }],
  ['thursday', { opens: '10:00', closes: '19:00' }],
  ['friday', { opens: '10:00', closes: '17:30' }],
  ['saturday', { opens: '09:30', closes: '16:00' }],
]);

const shelves: ReadonlyMap<string, string> = new Map([
  ['the hobbit', 'The Hobbit: 2 of 3 copies are in, on shelf F-27.'],
  ['emma', 'Emma: the only copy is lent and due back on Friday; nobody has reserved it.'],
  ['moby-dick', 'Moby-Dick: 1 copy is in, on shelf M-12.'],
  ['frankenstein', 'Frankenstein: both copies are lent, and 1 member is waiting.'],
]);

/** The days that the sample library can be asked about, as the form of its REST tool lists them. */
export const days: readonly string[] = [...week.keys(), 'sunday'];

/** Undefined for what is no day. */
export function openingHours(day: string): Readonly<Record<string, string>> | undefined {
  const asked = day.toLowerCase();
  if (!days.includes(asked)) return undefined;
  return { day: asked, ...(week.get(asked) ?? { closed: 'all day' }) };
}

/** Where a book of the sample library is; says so where it has none of that title. */
export function bookStatus(title: string): string {
  const status = shelves.get(title.trim().toLowerCase());
  return (
    status ?? `Hill Street Library has no book of this title. Among others it has The Hobbit, Emma, Moby-Dick and Frankenstein.`
  );
}

/** What the one member of the sample library has borrowed. */
export const memberLoans =
  'You have 2 books: "The Time Machine", due back in 4 days, and "Walden", due back in 11 days. Both can be renewed once more.';
