import { toS3Address } from '#stores/files/s3-address.ts';
import { S3BlobStore } from '#stores/files/s3-blob-store.ts';
import { type Reply, type ScriptedUpstream, startScriptedUpstream } from './scripted-upstream.ts';

interface ScriptedS3 extends AsyncDisposable {
  readonly store: S3BlobStore;
  readonly upstream: ScriptedUpstream;
}

/** Opens a blob store whose S3 server sends these replies. */
export async function openScriptedS3(...replies: readonly Reply[]): Promise<ScriptedS3> {
  const upstream = await startScriptedUpstream(...replies);
  const query = `endpoint=${encodeURIComponent(upstream.url)}&accessKeyId=id&secretAccessKey=canary`;
  const store = new S3BlobStore(toS3Address(`s3://bucket/p?${query}`, {}), 200);
  return {
    store,
    upstream,
    async [Symbol.asyncDispose]() {
      store.close();
      await upstream.close();
    },
  };
}
