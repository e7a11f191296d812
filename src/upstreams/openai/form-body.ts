import type { StreamedBody } from '#base/http/client.ts';
import type { FormFields } from '#domain/upstreams/upstream.ts';

interface FormBody {
  readonly body: StreamedBody;
  readonly contentType: string;
}

/** A form that is passed through, with the upstream's own name of the model as its first field. */
export function toFormBody(form: FormFields, model: string, defaults: Readonly<Record<string, unknown>>): FormBody {
  const { boundary } = form;
  const first = Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n`);
  const { pieces, length } = form.open(defaults);
  const body = { pieces: withFirst(first, pieces), length: length === undefined ? undefined : first.length + length };
  return { body, contentType: `multipart/form-data; boundary=${boundary}` };
}

async function* withFirst(first: Uint8Array, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* pieces;
}
