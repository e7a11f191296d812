import { generateKeyPairSync } from 'node:crypto';

/** Google service account with a key that is generated for each run. */
export const account = {
  type: 'service_account',
  project_id: 'the-project',
  client_email: 'parley@the-project.iam.gserviceaccount.com',
  private_key: generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey,
};
