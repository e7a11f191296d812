import { execFile } from 'node:child_process';
import { createServer } from 'node:https';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { HttpClient } from '#base/http/client.ts';
import { Flood, readSlowly } from './slow-reader.ts';
import { clientKinds, post, type Recording, Servers, serverCert, serverKey, sleep } from './support.ts';

interface Handshake {
  name: string | false | null | undefined;
  protocol: string | false | null;
  isReused: boolean;
}

function getErrorCode(recording: Recording): string | undefined {
  return (recording.error?.cause as NodeJS.ErrnoException | undefined)?.code;
}

describe.each(clientKinds)('%s over TLS', (name, Client) => {
  const serve = async (servers: Servers, handshakes: Handshake[], closes = false): Promise<number> => {
    const server = createServer({ key: serverKey, cert: serverCert, ALPNProtocols: ['h2', 'http/1.1'] }, (request, response) => {
      if (closes) response.setHeader('connection', 'close');
      response.write('a'.repeat(200_000));
      request.resume().on('end', () => response.end('z'));
    });
    server.on('secureConnection', (socket) => {
      handshakes.push({ name: socket.servername, protocol: socket.alpnProtocol, isReused: socket.isSessionReused() });
    });
    return servers.listen(server);
  };
  const postLarge = (client: HttpClient, url: string): Promise<Recording> => post(client, url, Buffer.alloc(100_000));

  it('uses HTTP/1.1 by ALPN, sends the server name, and keeps the connection', async () => {
    await using servers = new Servers();
    const handshakes: Handshake[] = [];
    const url = `https://localhost:${await serve(servers, handshakes)}/`;
    const client = new Client({ ca: serverCert });
    for (let nth = 0; nth < 2; nth++) {
      const recording = await postLarge(client, url);
      expect([recording.error, recording.body.length]).toEqual([null, 200_001]);
      await sleep(5);
    }
    expect(handshakes).toEqual([{ name: 'localhost', protocol: 'http/1.1', isReused: false }]);
    client.close();
  });

  it('reuses the TLS session on the next connection', async () => {
    await using servers = new Servers();
    const handshakes: Handshake[] = [];
    const url = `https://localhost:${await serve(servers, handshakes, true)}/`;
    const client = new Client({ ca: serverCert });
    for (let nth = 0; nth < 2; nth++) expect((await postLarge(client, url)).error).toBeNull();
    expect(handshakes.map((one) => one.isReused)).toEqual([false, true]);
    client.close();
  });

  it('sends no server name for an IP address, and verifies the address', async () => {
    await using servers = new Servers();
    const handshakes: Handshake[] = [];
    const client = new Client({ ca: serverCert });
    expect((await postLarge(client, `https://127.0.0.1:${await serve(servers, handshakes)}/`)).error).toBeNull();
    expect(handshakes[0]?.name === false || handshakes[0]?.name === '').toBe(true);
    client.close();
  });

  it('rejects a certificate that is not trusted', async () => {
    await using servers = new Servers();
    const recording = await postLarge(new Client(), `https://localhost:${await serve(servers, [])}/`);
    expect(recording.error?.kind).toBe('connect');
    expect(getErrorCode(recording)).toMatch(/SELF_SIGNED/);
  });

  it('rejects a certificate for another name', async () => {
    await using servers = new Servers();
    const client = new Client({
      ca: serverCert,
      lookup: (_name, options, found) => {
        if (options.all) found(null, [{ address: '127.0.0.1', family: 4 }]);
        else found(null, '127.0.0.1', 4);
      },
    });
    const url = `https://other.example:${await serve(servers, [])}/`;
    for (let nth = 0; nth < 3; nth++) {
      const recording = await postLarge(client, url);
      expect(recording.error?.kind).toBe('connect');
      expect(getErrorCode(recording)).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    }
  });

  it('slows the server while it is paused, without losing data', async () => {
    await using servers = new Servers();
    const flood = new Flood(32 * 1024 * 1024);
    const client = new Client({ ca: serverCert });
    const port = await servers.listen(createServer({ key: serverKey, cert: serverCert }, flood.answer));
    const { paused, fault: error, gotBytes } = await readSlowly(client, `https://localhost:${port}/`, flood);
    expect(paused.gotBytes).toBeLessThan(300_000);
    expect(paused.sentBytes).toBeLessThan(flood.totalBytes / 2);
    expect([error, gotBytes]).toEqual([null, flood.totalBytes]);
    client.close();
  });

  it('trusts NODE_EXTRA_CA_CERTS', async () => {
    await using servers = new Servers();
    const port = await serve(servers, []);
    const file = name === 'LeanClient' ? '../../src/base/http/lean-client.ts' : '../support/undici-client.ts';
    const script = `
      const { ${name} } = await import(${JSON.stringify(new URL(file, import.meta.url).href)});
      const timeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 };
      new ${name}().send({ method: 'GET', url: new URL('https://localhost:${port}/'), headers: {}, body: null, timeouts }, {
        head(status) { process.stdout.write(String(status)); },
        bytes() {},
        end() { process.exit(0); },
        fail(error) { process.stdout.write(String(error.cause)); process.exit(1); },
      });`;
    const cert = fileURLToPath(new URL('fixtures/server-cert.pem', import.meta.url));
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: cert };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env });
    expect(stdout).toBe('200');
  });
});
