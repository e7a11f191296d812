import type { ErrorCode } from '#contract/errors/errors.ts';
import { type ApiOperation, buildList, buildObject, json, type NamedSchema, type Schema } from '../http/openapi/operation.ts';
import { bodyErrors, keyErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames, inDeploymentPath } from '../http/openapi/operation-examples.ts';

const form: Schema = {
  type: 'object',
  description: 'The deployment and all its dependencies, by ID.',
  additionalProperties: { ...buildObject({ consentRequired: { type: 'boolean' } }), additionalProperties: false },
};

const submission: NamedSchema = {
  name: 'ConsentSubmission',
  schema: buildObject({ consent: form }),
};

const consent: NamedSchema = {
  name: 'Consent',
  schema: buildObject(
    {
      accepted: {
        type: 'boolean',
        description: 'Whether no deployment requires consent, or the user has accepted the current form.',
      },
      consent: { ...form, description: 'The current form. Absent if the user has accepted it.' },
    },
    ['consent'],
  ),
};

const accepted: Schema = buildObject({ accepted: { type: 'boolean', description: 'Always true.' } });

const list: NamedSchema = {
  name: 'ConsentList',
  schema: buildList(
    buildObject({
      deployment: { type: 'string' },
      consent: form,
      acceptedAt: { type: 'integer', description: 'Milliseconds since the epoch.' },
    }),
  ),
};

const sampleForm = {
  [exampleNames.withConsent]: { consentRequired: false },
  demo: { consentRequired: false },
  'sample-account': { consentRequired: true },
};

const tag = 'Consent';
const path = '/v1/consent/{id}';
const parameters = [inDeploymentPath(exampleNames.withConsent)];
const errors: readonly ErrorCode[] = [...keyErrors, 'access_denied', 'deployment_not_found'];

/** Operations for consent forms of deployments, and for the consents of the user. */
export const consentOperations: readonly ApiOperation[] = [
  {
    method: 'get',
    path: '/v1/consent',
    id: 'listConsents',
    tag,
    summary: 'Lists the consents of the user',
    responses: [{ status: 200, description: 'The list, by deployment.', content: json(list) }],
    errors: [...keyErrors, 'access_denied'],
  },
  {
    method: 'get',
    path,
    id: 'getConsent',
    tag,
    summary: 'Shows the consent form of a deployment',
    description: 'The response has no form if no deployment requires consent or the user has accepted it.',
    parameters,
    responses: [{ status: 200, description: 'Whether it is accepted, and the form if it is not.', content: json(consent) }],
    errors: [...errors, 'operation_not_supported'],
  },
  {
    method: 'post',
    path,
    id: 'acceptConsent',
    tag,
    summary: 'Accepts the consent form of a deployment',
    description: 'The form must be the current form, as `GET` returns it. It replaces the previous consent.',
    parameters,
    body: json(submission, { form: { summary: 'The form as it was shown', value: { consent: sampleForm } } }),
    responses: [{ status: 200, description: 'The consent is stored.', content: json(accepted) }],
    errors: [...errors, ...bodyErrors, 'operation_not_supported', 'consent_outdated'],
  },
  {
    method: 'delete',
    path,
    id: 'withdrawConsent',
    tag,
    summary: 'Withdraws the consent to a deployment',
    description: 'This takes effect for the next call. You can withdraw consent even if the deployment no longer exists.',
    parameters,
    responses: [{ status: 204, description: 'The consent is withdrawn.' }],
    errors,
  },
];
