import { expect, it } from 'vitest';
import { FormReader } from './form-reader.ts';

it('skipTo() rejects a form with endless empty parts before the file', async () => {
  const part = Buffer.from('content-disposition: form-data; name="x"\r\n\r\n\r\n--b\r\n'.repeat(1_000));
  async function* sendParts() {
    yield Buffer.from('--b\r\n');
    while (true) yield part;
  }
  const reader = new FormReader(sendParts(), 'b');
  await reader.skipPreamble();
  await expect(reader.skipTo(({ name }) => name === 'file')).rejects.toThrow('the fields other than the file are too large');
});
