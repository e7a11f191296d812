import type { ErrorCode } from '#contract/errors.ts';
import { type ApiOperation, inPath, json, keyErrors, listOf, type NamedSchema } from '../http/operation.ts';

const form = {
  type: 'object',
  description: 'The deployment and all that it depends on, by id.',
  additionalProperties: {
    type: 'object',
    required: ['consentRequired'],
    properties: { consentRequired: { type: 'boolean' } },
    additionalProperties: false,
  },
};

const submission: NamedSchema = {
  name: 'ConsentSubmission',
  schema: { type: 'object', required: ['consent'], properties: { consent: form } },
};

const consent: NamedSchema = {
  name: 'Consent',
  schema: {
    type: 'object',
    required: ['accepted'],
    properties: {
      accepted: { type: 'boolean', description: 'Whether nothing requires consent, or the user has accepted the form of today.' },
      consent: { ...form, description: 'The form of today; left out where it is accepted.' },
    },
  },
};

const accepted = { type: 'object', required: ['accepted'], properties: { accepted: { const: true } } };

const list: NamedSchema = {
  name: 'ConsentList',
  schema: listOf({
    type: 'object',
    required: ['deployment', 'consent', 'acceptedAt'],
    properties: {
      deployment: { type: 'string' },
      consent: form,
      acceptedAt: { type: 'integer', description: 'Milliseconds since the epoch.' },
    },
  }),
};

const tag = 'Consent';
const path = '/v1/consent/{id}';
const parameters = [inPath('id', 'Id of the deployment; it may hold slashes.')];
const errors: readonly ErrorCode[] = [...keyErrors, 'access_denied', 'deployment_not_found', 'overloaded'];

/** `/v1/consent`: the forms of deployments and what the user has accepted. */
export const consentOperations: readonly ApiOperation[] = [
  {
    method: 'get',
    path: '/v1/consent',
    id: 'listConsents',
    tag,
    summary: 'Lists what the user has accepted',
    answers: [{ status: 200, description: 'The list, by deployment.', content: json(list) }],
    errors: [...keyErrors, 'access_denied', 'overloaded'],
  },
  {
    method: 'get',
    path,
    id: 'getConsent',
    tag,
    summary: 'Shows the consent form of a deployment',
    description: 'The form is left out where nothing requires consent or the user has accepted it.',
    parameters,
    answers: [{ status: 200, description: 'Whether it is accepted, and the form where it is not.', content: json(consent) }],
    errors: [...errors, 'operation_not_supported'],
  },
  {
    method: 'post',
    path,
    id: 'acceptConsent',
    tag,
    summary: 'Accepts the consent form of a deployment',
    description: 'The form must be the one of today, as `GET` shows it. It replaces what was accepted before.',
    parameters,
    body: json(submission),
    answers: [{ status: 200, description: 'It is stored.', content: json(accepted) }],
    errors: [
      ...errors,
      'operation_not_supported',
      'invalid_request',
      'invalid_json',
      'consent_outdated',
      'payload_too_large',
      'unsupported_media_type',
    ],
  },
  {
    method: 'delete',
    path,
    id: 'withdrawConsent',
    tag,
    summary: 'Withdraws the consent to a deployment',
    description: 'In force for the next call. What was accepted can be withdrawn also where the deployment is gone by now.',
    parameters,
    answers: [{ status: 204, description: 'Nothing is accepted any more.' }],
    errors,
  },
];
