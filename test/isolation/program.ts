import { serveIsolated } from '#base/isolation/serve-isolated.ts';

/** What a process is told to do wrong, or right. */
export type Deed = 'echo' | 'spin' | 'hoard' | 'fill the heap' | 'throw' | 'leave' | 'tell the environment';

const megabyte = 1024 ** 2;

await serveIsolated<Deed>(async (deed, bytes, give) => {
  const held: unknown[] = [];
  switch (deed) {
    case 'spin':
      for (;;) held.length = 0;
    case 'hoard':
      for (;;) held.push(Buffer.alloc(megabyte, 1));
    case 'fill the heap':
      for (;;) held.push(JSON.parse(`[${'{"a":[]},'.repeat(100_000)}1]`));
    case 'throw':
      throw new Error('as it was told');
    case 'leave':
      return process.exit(0);
    case 'tell the environment':
      return Object.keys(process.env);
    case 'echo':
      await give(bytes.length);
      return 'done';
  }
});
