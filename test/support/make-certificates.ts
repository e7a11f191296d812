import { execFile } from 'node:child_process';
import { chmod, chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openFolder } from './temporary-folder.ts';

/** Files of a CA, of another CA, and of a server at `localhost` whose certificate the first one signed. */
export interface TestCertificates extends AsyncDisposable {
  readonly ca: string;
  readonly otherCa: string;
  readonly cert: string;
  /** Private key, which belongs to the user that runs PostgreSQL. */
  readonly key: string;
}

const keyFlags = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-batch', '-days', '30'];
const nobody = 65_534;

/** Creates certificates. The one of the server has no IP address. */
export async function makeCertificates(): Promise<TestCertificates> {
  const folder = await openFolder();
  const path = (name: string): string => join(folder.path, name);
  const run = (...args: readonly string[]) => promisify(execFile)('openssl', args, { cwd: folder.path });
  const makeCa = (name: string) =>
    run('req', '-x509', ...keyFlags, '-keyout', `${name}.key`, '-out', `${name}.pem`, '-subj', `/CN=${name}`);
  await Promise.all([makeCa('ca'), makeCa('other')]);
  await writeFile(path('names'), 'subjectAltName=DNS:localhost\n');
  await run('req', ...keyFlags.slice(0, -2), '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=server');
  const signFlags = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '30', '-extfile', 'names'];
  await run('x509', '-req', '-in', 'server.csr', '-out', 'server.pem', ...signFlags);
  await chmod(folder.path, 0o755);
  await chmod(path('server.key'), 0o600);
  if (process.getuid?.() === 0) await chown(path('server.key'), nobody, nobody);
  return {
    ca: path('ca.pem'),
    otherCa: path('other.pem'),
    cert: path('server.pem'),
    key: path('server.key'),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
