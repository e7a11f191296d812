import { buildApp } from 'fauxqs';

/** A third party's S3 on the loopback, in a process of its own; says its address on stderr. */
const app = buildApp({ logger: false });
const uploads = new Set<string>();
app.addHook('onResponse', async ({ method, url }, { statusCode }) => {
  const [path = '', query = ''] = url.split('?', 2);
  if (statusCode >= 300) return;
  if (/(^|&)uploads(=|&|$)/.test(query)) uploads.add(path);
  else if (/(^|&)uploadId=/.test(query) && method !== 'PUT') uploads.delete(path);
});
// It lists no uploads itself.
app.get('/_uploads', () => [...uploads]);
process.stderr.write(`${await app.listen({ host: '127.0.0.1', port: Number(process.argv[2] ?? 0) })}\n`);
