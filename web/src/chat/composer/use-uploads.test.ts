import { expect, it } from 'vitest';
import type { Deployment } from '../../service/deployments.ts';
import { type Upload, withRejections } from './use-uploads.ts';

const painter = { attachmentTypes: ['image/*'], maxAttachments: 1 } as unknown as Deployment;
const upload = (type: string, fields: Partial<Upload> = {}): Upload => ({ id: type, name: type, type, progress: 1, ...fields });

it('counts only the files that can be sent toward the maximum', () => {
  const failed = upload('image/png', { error: { status: 413, code: 'too_large', message: '' } });
  const uploads = withRejections([upload('text/plain'), failed, upload('image/png'), upload('image/gif')], [painter]);
  expect(uploads.map(({ rejection }) => rejection?.reason)).toEqual(['type', undefined, undefined, 'count']);
});
