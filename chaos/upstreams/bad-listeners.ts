import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { promisify } from 'node:util';
import { findFreePort, waitUntilListening } from '#test/listening.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { type Expectation, framed } from './fault.ts';
import { goodReply } from './good-replies.ts';
import { closeServer, getPort, serve } from './hostile-upstream.ts';

/** A listener whose connections fail before HTTP starts. */
interface BadListener {
  readonly name: string;
  readonly url: string;
  readonly expects: Expectation;
}

export interface BadListeners extends AsyncDisposable {
  readonly all: readonly BadListener[];
  /** File with the certificate to trust. */
  readonly caPath: string;
}

type OnSocket = (socket: Socket) => void;

const replyWell: OnSocket = (socket) => serve(socket, ({ body }) => framed(goodReply('openai', body.includes('"stream":true'))));
const onFirstBytes =
  (work: OnSocket): OnSocket =>
  (socket) =>
    void socket.once('data', () => work(socket));

/** Behavior of plain sockets before HTTP starts. */
const plain: Readonly<Record<string, OnSocket>> = {
  'reset when it stands': (socket) => void socket.resetAndDestroy(),
  'closed when it stands': (socket) => void socket.end(),
  'garbage when it stands': (socket) => void socket.end('220 mail.test ESMTP\r\n'),
  'read and never answered': (socket) => void socket.resume(),
  'closed with the first bytes': onFirstBytes((socket) => void socket.end()),
};

/** Behavior of listeners that should use TLS. */
const handshakes: Readonly<Record<string, OnSocket>> = {
  'plain HTTP': onFirstBytes((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n')),
  garbage: onFirstBytes((socket) => void socket.end(Buffer.alloc(500, 7))),
  'an alert': onFirstBytes((socket) => void socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, 40]))),
  'a reset': onFirstBytes((socket) => void socket.resetAndDestroy()),
  'a close': onFirstBytes((socket) => void socket.end()),
  silence: (socket) => void socket.resume(),
  'half a record': onFirstBytes((socket) => void socket.write(Buffer.from([0x16, 3, 3, 0x10, 0, 2, 0]))),
};

/** Opens one listener of each kind and creates the required certificates. */
export async function startBadListeners(): Promise<BadListeners> {
  const stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await openFolder());
  const { good, expired, elsewhere, unknown, caPath } = await makeCertificates(folder);
  const listen = async (
    name: string,
    server: Server,
    { scheme, expects }: { scheme: string; expects: Expectation },
  ): Promise<BadListener> => {
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
    });
    await waitUntilListening(server.listen(0, '127.0.0.1'));
    stack.defer(() => closeServer(server, sockets));
    return { name, url: `${scheme}://127.0.0.1:${getPort(server)}`, expects };
  };
  const overTls = (name: string, options: TlsOptions, expects: Expectation, work: OnSocket = replyWell) => {
    const server = createTlsServer(options, (socket) => work(socket.on('error', () => undefined)));
    server.on('tlsClientError', () => undefined);
    return listen(`tls: ${name}`, server, { scheme: 'https', expects });
  };
  const cutConnection: OnSocket = (socket) => {
    const under = Reflect.get(socket, '_parent') as Socket | null;
    socket.once('data', () =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{', () =>
        (under ?? socket).destroy(),
      ),
    );
  };
  const all = await Promise.all([
    ...Object.entries(plain).map(([name, work]) =>
      listen(`connection: ${name}`, createServer(work), { scheme: 'http', expects: 'refused' }),
    ),
    ...Object.entries(handshakes).map(([name, work]) =>
      listen(`tls: ${name}`, createServer(work), { scheme: 'https', expects: 'refused' }),
    ),
    overTls('good', good, 'answered'),
    overTls('an expired certificate', expired, 'refused'),
    overTls('a certificate of another host', elsewhere, 'refused'),
    overTls('a certificate of an unknown authority', unknown, 'refused'),
    overTls('cut without a word', good, 'refused', cutConnection),
    overTls('a client certificate is required', { ...good, requestCert: true, rejectUnauthorized: true }, 'refused'),
  ]);
  const refused = { name: 'connection: refused', url: `http://127.0.0.1:${await findFreePort()}`, expects: 'refused' as const };
  const noName = { name: 'connection: a name that does not exist', url: 'http://nowhere.invalid', expects: 'refused' as const };
  const full = { name: 'connection: never accepted', url: await startFull(stack), expects: 'refused' as const };
  return { all: [...all, refused, noName, full], caPath, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Starts a listener that is stopped with a full queue. The next connection is never established. */
async function startFull(stack: AsyncDisposableStack): Promise<string> {
  const program = "const s = require('net').createServer().listen(0, '127.0.0.1', 1, () => console.log(s.address().port))";
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [output] = (await once(child.stdout, 'data')) as [Buffer];
  child.kill('SIGSTOP');
  const port = Number(output);
  const waiting = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  stack.defer(() => {
    for (const socket of waiting) socket.destroy();
    child.kill('SIGKILL');
  });
  return `http://127.0.0.1:${port}`;
}

interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
}

async function makeCertificates(folder: string) {
  const run = (...args: readonly string[]) => promisify(execFile)('openssl', args, { cwd: folder });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-batch'];
  const selfSigned = (name: string) =>
    run(
      'req',
      '-x509',
      ...newKey,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.pem`,
      '-subj',
      `/CN=${name}`,
      '-addext',
      'subjectAltName=IP:127.0.0.1',
      '-days',
      '30',
    );
  await Promise.all([selfSigned('ca'), selfSigned('unknown')]);
  const readCertificate = async (name: string): Promise<Certificate> => ({
    key: await readFile(join(folder, `${name}.key`)),
    cert: await readFile(join(folder, `${name}.pem`)),
  });
  const make = async (name: string, subject: string, days: string): Promise<Certificate> => {
    await run(
      'req',
      ...newKey,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
      '-subj',
      `/CN=${name}`,
      '-addext',
      `subjectAltName=${subject}`,
    );
    await run(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-days',
      days,
      '-out',
      `${name}.pem`,
      '-copy_extensions',
      'copy',
    );
    return readCertificate(name);
  };
  const [good, expired, elsewhere, unknown] = await Promise.all([
    make('good', 'IP:127.0.0.1', '30'),
    make('expired', 'IP:127.0.0.1', '0'),
    make('elsewhere', 'DNS:elsewhere.test', '30'),
    readCertificate('unknown'),
  ]);
  return { good, expired, elsewhere, unknown, caPath: join(folder, 'ca.pem') };
}
