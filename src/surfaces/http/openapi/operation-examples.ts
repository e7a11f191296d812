import { toBucket } from '#domain/files/bucket.ts';
import { inPath, type Parameter } from './operation.ts';

/**
 * What examples name. The deployments and the bucket are those of a service that runs without a configuration; the file, the prompt, the
 * conversation and the application are what the examples of `PUT` make.
 */
export const exampleNames = {
  chat: 'demo',
  embedding: 'demo-embeddings',
  /** Has the APIs that are passed through; there is none without a configuration. */
  others: 'studio',
  /** Has documents. */
  application: 'sample',
  /** Depends on one that requires consent. */
  withConsent: 'sample-with-consent',
  bucket: toBucket('key:local'),
  file: 'notes/hours.txt',
  prompt: 'brief',
  conversation: 'demo__Opening hours',
  ownApplication: 'guide',
  /** A case of that application, and an evaluation. */
  evaluationCase: 'case_example',
  evaluation: 'evaluation_example',
  /** A stored response, made in the background. */
  response: 'resp_example',
  /** A conversation that responses go on in, and its item. */
  talk: 'conv_example',
  item: 'msg_example',
  /** A chat of the page. */
  chatId: 'opening-hours',
  /** What is shared of it, and the token of the link. */
  share: 'share-of-hours',
  shareToken: 'example-token-of-a-link-that-nobody-guesses',
  /** A key that a user made. */
  key: 'key-of-a-user',
  /** A user whom an administrator blocked. */
  blockedUser: 'blocked@example.com',
} as const;

/** The parameter `id` of paths below a deployment. */
export function inDeploymentPath(example: string = exampleNames.chat): Parameter {
  return inPath('id', 'Id of the deployment; it may hold slashes.', example);
}
