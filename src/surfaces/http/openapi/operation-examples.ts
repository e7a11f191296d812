import { toBucket } from '#domain/files/bucket.ts';
import { buildObject, inPath, type Parameter } from './operation.ts';

/**
 * Names used in examples. The deployments and the bucket exist in a service without a configuration. The examples of the `PUT`
 * operations create the file, the prompt, the conversation, and the application.
 */
export const exampleNames = {
  chat: 'demo',
  embedding: 'demo-embeddings',
  /** A model with pass-through APIs. The default service has no such model. */
  passThroughModel: 'studio',
  /** An application with documents. */
  application: 'sample',
  /** An application that depends on one that requires consent. */
  withConsent: 'sample-with-consent',
  bucket: toBucket('key:local'),
  file: 'notes/hours.txt',
  prompt: 'brief',
  conversation: 'demo__Opening hours',
  ownApplication: 'guide',
  /** A test case and an evaluation of that application. */
  evaluationCase: 'case_example',
  evaluation: 'evaluation_example',
  /** A stored background response. */
  response: 'resp_example',
  /** A conversation of the Responses API, and an item in it. */
  responsesConversation: 'conv_example',
  item: 'msg_example',
  /** A chat of the page. */
  chatId: 'opening-hours',
  /** A chat run that has ended, and one that does not exist. */
  chatRun: 'run-about-hours',
  newChatRun: 'run-about-books',
  /** A shared chat, and the token of its link. */
  share: 'share-of-hours',
  shareToken: 'example-token-of-a-link-that-nobody-guesses',
  /** A key that a user created. */
  key: 'key-of-a-user',
  /** Usage record of a call. */
  call: 'record-of-a-call',
  /** A change of an administrator. */
  adminChange: 'change-of-an-administrator',
  /** A provisioned user, and a group. */
  scimUser: 'user-of-a-provider',
  scimGroup: 'group-of-a-provider',
  /** Token of the first start. */
  firstStartToken: 'parley_first_example',
  /** A blocked user. */
  blockedUser: 'blocked@example.com',
} as const;

/** A tool that the client runs. */
export const weatherTool = {
  name: 'get_weather',
  description: 'Gives the weather of a city',
  parameters: buildObject({ city: { type: 'string', description: 'Name of the city' } }),
};

/** Returns the `id` parameter of paths below a deployment. */
export function inDeploymentPath(example: string = exampleNames.chat): Parameter {
  return inPath('id', 'ID of the deployment. It may contain slashes.', example);
}

/** Path parameter of stored items. */
export const inBucket = inPath(
  'bucket',
  'The bucket of the owner. `GET /v1/bucket` returns the bucket of the caller.',
  exampleNames.bucket,
);
