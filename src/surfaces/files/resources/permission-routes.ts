import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isDeploymentId } from '#contract/deployment-path.ts';
import { ParleyError } from '#contract/errors.ts';
import { requestFault } from '#contract/request-fault.ts';
import { PermissionListRequest, parsePermissions, parserOf } from '#contract/resource-requests.ts';
import type { Caller, Chain } from '#domain/callers/caller.ts';
import { type Grant, mostGrants } from '#domain/callers/held-rights.ts';
import { fromUrl, isTooLong, toUrl } from '#domain/files/resource-place.ts';
import { rightsTo } from '#domain/files/resource-rights.ts';
import { serveEarly } from '../../http/serve-early.ts';
import { type AskedOperation, readOperation } from './read-operation.ts';
import type { ResourceDeps } from './resource-deps.ts';

type Deps = Pick<ResourceDeps, 'identify' | 'snapshot'>;

const base = '/v1/ops/resource/per-request-permissions/';
const parseList = parserOf(PermissionListRequest);

/** `POST /v1/ops/resource/per-request-permissions/grant`, `/revoke` and `/list`: what an application lets those that it calls do (docs/files.md, Who may). */
export function permissionRoutes(app: FastifyInstance, deps: Deps): void {
  serveEarly(app, { method: 'POST', url: `${base}grant` }, async (request) => {
    const { chain, body, caller } = await readOwn(deps, request, parsePermissions);
    const grant = toGrants(caller, body());
    const known = new Set([...chain.rights.granted, ...grant].map(({ receiver, url }) => JSON.stringify([receiver, url])));
    if (known.size > mostGrants) throw requestFault('resourcePermissions', `would be more than the ${mostGrants} of one call`);
    await chain.rights.change({ grant });
  });
  serveEarly(app, { method: 'POST', url: `${base}revoke` }, async (request) => {
    const { chain, body } = await readOwn(deps, request, parsePermissions);
    await chain.rights.change({ revoke: toGrants(undefined, body()) });
  });
  serveEarly(app, { method: 'POST', url: `${base}list` }, async (request) => {
    const { chain, body } = await readOwn(deps, request, parseList);
    const { receiver } = body();
    const granted = chain.rights.granted.filter((grant) => receiver === undefined || grant.receiver === receiver);
    return { resourcePermissions: granted };
  });
}

/** Only who answers a call has anything to give for its duration. */
async function readOwn<Body>(
  deps: Deps,
  request: FastifyRequest,
  parse: (body: unknown) => Body,
): Promise<AskedOperation<Body> & { readonly chain: Chain }> {
  const asked = await readOperation(deps, request, parse);
  const { chain } = asked.caller;
  if (chain !== null) return { ...asked, chain };
  throw new ParleyError(
    'access_denied',
    'Permissions for the duration of a call are given with the per-request key of that call.',
  );
}

/** As they are kept. `grantor` must have what it grants; what is revoked is looked at by nobody. */
function toGrants(
  grantor: Caller | undefined,
  { resourcePermissions, receiver }: ReturnType<typeof parsePermissions>,
): readonly Grant[] {
  if (!isDeploymentId(receiver)) throw requestFault('receiver', 'must be the id of a deployment');
  return resourcePermissions.map(({ url, permissions }, at) => {
    const place = fromUrl(url);
    if (place === undefined || isTooLong(place))
      throw requestFault(`resourcePermissions[${at}].url`, 'must be the url of something stored, {kind}/{bucket}/{path}');
    const held = grantor === undefined ? permissions : rightsTo(grantor, place);
    const lacking = permissions.find((permission) => !held.includes(permission));
    if (lacking !== undefined)
      throw new ParleyError('access_denied', `You have no ${lacking} on the resource yourself.`, {
        param: `resourcePermissions[${at}].url`,
      });
    return { receiver, url: toUrl(place), permissions: [...new Set(permissions)] };
  });
}
