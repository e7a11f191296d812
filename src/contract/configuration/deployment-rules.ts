import { isJsonObject, type JsonObject } from '#base/json.ts';
import { isDeploymentId } from '../deployment-path.ts';
import { entriesOf, objectsOf } from './entries.ts';
import type { Fault } from './fault.ts';
import { isHeaderName } from './values.ts';

const quickAppSuffix = '/custom_application_schemas/quickapps';

/** Whether an application type is that of quick apps; the base before the suffix may be any address (spec 2.14). */
function isQuickAppSchemaId(schemaId: string): boolean {
  return schemaId.endsWith(quickAppSuffix);
}

/** What the schema cannot say of models and applications. */
export function* deploymentFaults(configuration: unknown): Iterable<Fault> {
  const models = entriesOf(configuration, 'models');
  const applications = entriesOf(configuration, 'applications');
  for (const [id, model] of models) {
    yield* idFaults('models', id);
    yield* modelFaults(id, model);
  }
  const modelIds = new Set(models.map(([id]) => id));
  for (const [id, application] of applications) {
    yield* idFaults('applications', id);
    if (modelIds.has(id)) {
      yield { path: ['applications', id], message: 'is the id of a model as well; models and applications share one namespace' };
    }
    for (const fault of applicationFaults(application)) yield { ...fault, path: ['applications', id, ...fault.path] };
  }
}

function* idFaults(section: string, id: string): Iterable<Fault> {
  const path = [section, id];
  if (!isDeploymentId(id)) {
    yield { path, message: 'cannot be an id: no empty, "." or ".." segments, no control characters, at most 1024 characters' };
  } else if (id.startsWith('applications/')) {
    yield { path, message: 'cannot be an id: those that begin with applications/ belong to applications made through the API' };
  }
}

const needEndpoint: ReadonlySet<unknown> = new Set(['openai', 'azure', 'anthropic']);

function* modelFaults(id: string, model: JsonObject): Iterable<Fault> {
  for (const [index, upstream] of objectsOf(model.upstreams)) {
    const path = ['models', id, 'upstreams', index];
    const protocol = upstream.protocol ?? 'openai';
    if (needEndpoint.has(protocol) && upstream.endpoint === undefined) {
      yield { path: [...path, 'endpoint'], message: `is missing; an upstream with the protocol ${protocol} needs it` };
    }
    for (const name of Object.keys(isJsonObject(upstream.headers) ? upstream.headers : {})) {
      if (!isHeaderName(name)) yield { path: [...path, 'headers', name], message: 'cannot be the name of a header field' };
    }
  }
}

/** What the schema cannot say of one application; paths begin at its entry. */
function* applicationFaults(application: JsonObject): Iterable<Fault> {
  const { endpoint, applicationTypeSchemaId: schemaId, applicationProperties: properties } = application;
  if (endpoint !== undefined) {
    const superfluous = ['applicationTypeSchemaId', 'applicationProperties'].filter((key) => application[key] !== undefined);
    yield* superfluous.map((key) => ({
      path: [key],
      message: 'cannot stand beside endpoint; an application has one or the other',
    }));
  } else if (schemaId !== undefined) {
    if (typeof schemaId === 'string' && !isQuickAppSchemaId(schemaId)) {
      yield {
        path: ['applicationTypeSchemaId'],
        message: `is no known application type; the known one ends in ${quickAppSuffix}`,
      };
    }
    if (properties === undefined)
      yield { path: ['applicationProperties'], message: 'is missing; applicationTypeSchemaId needs it' };
  } else if (properties !== undefined) {
    yield { path: ['applicationTypeSchemaId'], message: 'is missing; applicationProperties needs it' };
  } else {
    yield {
      path: ['endpoint'],
      message: 'is missing; an application has it, or applicationTypeSchemaId with applicationProperties',
    };
  }
}
