import { hash } from 'node:crypto';
import type { JsonObject } from '#base/json.ts';
import type { ForeignObject } from '../foreign-object.ts';
import type { LitellmTools } from './litellm-tools.ts';
import { lostGeneral } from './lost-keys.ts';

/** Digests of shorter keys are soon guessed. */
const shortest = 16;

/** Who may call: the master key, and the issuer of tokens. */
export function importAccess(root: ForeignObject, tools: LitellmTools): void {
  const general = root.object('generalSettings');
  const master = general?.text('masterKey');
  if (general === undefined || master === undefined || master === '')
    tools.notes.lose(
      ['general_settings', 'master_key'],
      'is not there: LiteLLM lets everybody in, Parley nobody without a key',
      'write one into `keys` of the result',
    );
  else
    tools.result.put(
      'keys',
      'master',
      tools.result.from(general.at('masterKey'), { project: 'master', roles: ['admin'], ...toSecret(master, general, tools) }),
    );
  const issuer = general?.object('litellmJwtauth');
  if (issuer !== undefined) importIssuer(issuer, tools);
  general?.leave(lostGeneral, 'general_settings');
}

function toSecret(master: string, general: ForeignObject, { notes, variables }: LitellmTools): JsonObject {
  const written = variables.environment(master);
  if (written !== master) return { key: written };
  if (master.length < shortest)
    notes.mention(general.at('masterKey'), 'is short enough to be guessed from its digest: issue a longer one in time');
  return { sha256: hash('sha256', master, 'hex') };
}

/** Tokens are accepted of an issuer that is named. */
function importIssuer(jwt: ForeignObject, tools: LitellmTools): void {
  const { notes, variables, result } = tools;
  const issuer = jwt.text('issuer');
  const keys = jwt.text('publicKeyUrl');
  if (issuer === undefined) {
    notes.lose(
      jwt.path,
      'is not carried: it has no issuer',
      'write an entry of `identityProviders` with the `iss` claim of the tokens (docs/identity.md)',
    );
    return;
  }
  const audience = jwt.text('audience');
  const userIdClaim = jwt.text('userIdJwtField');
  const rolesClaim = jwt.text('rolesJwtField') ?? jwt.text('teamIdsJwtField');
  jwt.leave(
    {
      teamIdsJwtField: 'roles come from one claim',
      roleMappings: 'roles are those of the token; name them in `roles` and `userRoles`',
    },
    'litellm_jwtauth',
  );
  const entry = {
    issuer: variables.environment(issuer),
    ...(keys !== undefined && !keys.endsWith('/.well-known/openid-configuration') && { jwksUrl: variables.environment(keys) }),
    ...(audience !== undefined && { audience: variables.environment(audience) }),
    ...(userIdClaim !== undefined && { userIdClaim }),
    ...(rolesClaim !== undefined && { rolesClaim }),
  };
  result.put('identityProviders', 'litellm', result.from(jwt.path, entry));
}
