import {
  buildList,
  buildObject,
  json,
  listOperations,
  nameObject,
  nameSchema,
  reply,
  type Schema,
} from '../http/openapi/operation.ts';
import { bodyErrors, keyErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames, inDeploymentPath } from '../http/openapi/operation-examples.ts';

const form: Schema = {
  type: 'object',
  description: 'The deployment and all its dependencies, by ID.',
  additionalProperties: { ...buildObject({ consentRequired: { type: 'boolean' } }), additionalProperties: false },
};

const submission = nameObject('ConsentSubmission', { consent: form });

const consent = nameObject(
  'Consent',
  {
    accepted: {
      type: 'boolean',
      description: 'Whether no deployment requires consent, or the user has accepted the current form.',
    },
    consent: { ...form, description: 'The current form. Absent if the user has accepted it.' },
  },
  ['consent'],
);

const accepted: Schema = buildObject({ accepted: { type: 'boolean', description: 'Always true.' } });

const list = nameSchema(
  'ConsentList',
  buildList(
    buildObject({
      deployment: { type: 'string' },
      consent: form,
      acceptedAt: { type: 'integer', description: 'Milliseconds since the epoch.' },
    }),
  ),
);

const sampleForm = {
  [exampleNames.withConsent]: { consentRequired: false },
  demo: { consentRequired: false },
  'sample-account': { consentRequired: true },
};

const path = '/v1/consent/{id}';
const parameters = [inDeploymentPath(exampleNames.withConsent)];

const shared = { tag: 'Consent', errors: [...keyErrors, 'access_denied'] } as const;

/** Operations for consent forms of deployments, and for the consents of the user. */
export const consentOperations = listOperations(shared, {
  'get /v1/consent': {
    id: 'listConsents',
    summary: 'Lists the consents of the user',
    responses: [reply(200, 'The list, by deployment.', list)],
  },
  [`get ${path}`]: {
    id: 'getConsent',
    summary: 'Shows the consent form of a deployment',
    description: 'The response has no form if no deployment requires consent or the user has accepted it.',
    parameters,
    responses: [reply(200, 'Whether it is accepted, and the form if it is not.', consent)],
    errors: ['deployment_not_found', 'operation_not_supported'],
  },
  [`post ${path}`]: {
    id: 'acceptConsent',
    summary: 'Accepts the consent form of a deployment',
    description: 'The form must be the current form, as `GET` returns it. It replaces the previous consent.',
    parameters,
    body: json(submission, { form: { summary: 'The displayed form', value: { consent: sampleForm } } }),
    responses: [reply(200, 'The consent is stored.', accepted)],
    errors: ['deployment_not_found', ...bodyErrors, 'operation_not_supported', 'consent_outdated'],
  },
  [`delete ${path}`]: {
    id: 'withdrawConsent',
    summary: 'Withdraws the consent to a deployment',
    description: 'This takes effect for the next call. You can withdraw consent even if the deployment no longer exists.',
    parameters,
    responses: [reply(204, 'The consent is withdrawn.')],
    errors: ['deployment_not_found'],
  },
});
