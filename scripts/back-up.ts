import { chmodSync, constants, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Copies the data of a running node with SQLite: `node scripts/back-up.ts DATA_FOLDER TARGET_FOLDER`. A node that
 * starts on the copy has the state of that moment. Contents that an earlier copy in the same target has are not
 * copied again.
 */
const [data, target] = process.argv.slice(2);
if (data === undefined || target === undefined || resolve(data) === resolve(target) || !existsSync(join(data, 'parley.db'))) {
  console.error('usage: node scripts/back-up.ts DATA_FOLDER TARGET_FOLDER, where DATA_FOLDER has a parley.db');
  process.exit(2);
}
if (existsSync(join(target, 'parley.db-wal'))) {
  console.error(`${target} is the data folder of a node: name another one for the copy`);
  process.exit(2);
}
const maxTries = 3;

function copyContents(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(from)) {
    if (name.endsWith('.part') || existsSync(join(to, name))) continue;
    try {
      copyFileSync(join(from, name), join(to, `${name}.part`), constants.COPYFILE_FICLONE);
      renameSync(join(to, `${name}.part`), join(to, name));
    } catch (error) {
      // Deleted during the copy.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

/** Copies a consistent snapshot of the database, even during writes. */
function copyDatabase(from: string, to: string): void {
  rmSync(`${to}.part`, { force: true });
  const database = new DatabaseSync(from);
  database.exec('pragma busy_timeout = 5000');
  database.prepare('vacuum into ?').run(`${to}.part`);
  database.close();
  chmodSync(`${to}.part`, 0o600);
  renameSync(`${to}.part`, to);
}

/** Returns the contents that the copied database names. */
function listContents(file: string): ReadonlySet<string> {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare('select blob from files').all();
  database.close();
  return new Set(rows.map(({ blob }) => String(blob)));
}

mkdirSync(target, { recursive: true, mode: 0o700 });
if (existsSync(join(data, 'secret'))) copyFileSync(join(data, 'secret'), join(target, 'secret'));
const [contents, copied] = [join(data, 'files'), join(target, 'files')];
let missing: readonly string[] = ['all'];
for (let attempt = 0; missing.length > 0 && attempt < maxTries; attempt += 1) {
  // Copies before and after the database, because contents are deleted and added while the database is copied.
  copyContents(contents, copied);
  copyDatabase(join(data, 'parley.db'), join(target, 'parley.db'));
  copyContents(contents, copied);
  missing = [...listContents(join(target, 'parley.db'))].filter((name) => !existsSync(join(copied, name)));
}
const used = listContents(join(target, 'parley.db'));
for (const name of readdirSync(copied)) if (!used.has(name)) rmSync(join(copied, name));
console.log(`${used.size - missing.length} files and the database are in ${target}`);
if (missing.length > 0) {
  console.error(`${missing.length} files changed too fast to be copied: run it again`);
  process.exitCode = 1;
}
