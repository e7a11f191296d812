import { fileURLToPath } from 'node:url';
import { ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { findFreePort } from './listening.ts';
import { spawnTied, type TiedProcess } from './tied-process.ts';

/** An S3 server in a separate process that stores its data in memory. */
export interface TestS3 extends AsyncDisposable {
  /** Value for `PARLEY_FILES_URL`: a separate bucket, a prefix, an endpoint, and credentials. */
  readonly filesUrl: string;
  /** Returns the names of the objects without the prefix, and of the incomplete uploads. */
  names(): Promise<{ readonly objects: readonly string[]; readonly uploads: readonly string[] }>;
  /** Stores an object without a node. */
  put(name: string, content: string): Promise<void>;
  /** Stops the server, which deletes its data. */
  stop(): Promise<void>;
  /** Starts the server again on the same port with an empty bucket. */
  start(): Promise<void>;
}

const bucket = 'parley-test';
const prefix = 'some/where/';
/** Name of the object that identifies the database of the contents. */
const claimName = 'parley-database';
const main = fileURLToPath(new URL('./s3-server.ts', import.meta.url));

export async function startS3(): Promise<TestS3> {
  const port = await findFreePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const client = new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  let running = await listening(port);
  const start = async (): Promise<void> => {
    running = await listening(port);
  };
  return {
    filesUrl: `s3://${bucket}/${prefix}?endpoint=${encodeURIComponent(endpoint)}&region=eu-west-1&accessKeyId=test&secretAccessKey=canary-secret`,
    async names() {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }));
      const uploads = await fetch(`${endpoint}/_uploads`);
      return {
        objects: Contents.map(({ Key = '' }) => Key.slice(prefix.length)).filter((name) => name !== claimName),
        uploads: (await uploads.json()) as readonly string[],
      };
    },
    put: async (name, content) => {
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: prefix + name, Body: content }));
    },
    stop: () => running.stop(),
    start,
    async [Symbol.asyncDispose]() {
      client.destroy();
      await running.stop();
    },
  };
}

async function listening(port: number): Promise<TiedProcess> {
  const running = spawnTied([process.execPath, main, String(port)], { stopSignal: 'TERM' });
  const url = await new Promise<string>((resolve, reject) => {
    let stderrText = '';
    running.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderrText += text;
      const [, address] = /^(http:\S+)$/m.exec(stderrText) ?? [];
      if (address !== undefined) resolve(address);
    });
    running.child.once('close', () => reject(new Error(`S3 did not start: ${stderrText}`)));
  });
  await fetch(`${url}/${bucket}`, { method: 'PUT' });
  return running;
}
