import { buildApp } from 'fauxqs';

/** Runs a third-party S3 server on the loopback interface in a separate process. It prints its address to stderr. */
const app = buildApp({ logger: false });
const uploads = new Set<string>();
app.addHook('onResponse', async ({ method, url }, { statusCode }) => {
  const [path = '', query = ''] = url.split('?', 2);
  if (statusCode >= 300) return;
  if (/(^|&)uploads(=|&|$)/.test(query)) uploads.add(path);
  else if (/(^|&)uploadId=/.test(query) && method !== 'PUT') uploads.delete(path);
});
// The server cannot list uploads, so this route does.
app.get('/_uploads', () => [...uploads]);
process.stderr.write(`${await app.listen({ host: '127.0.0.1', port: Number(process.argv[2] ?? 0) })}\n`);
