import { compatErrorDialect, type ErrorDialect } from '../http/error-dialect.ts';

/** On paths where `model` of the body names the deployment, as OpenAI's API says it. */
export const modelErrorDialect = withNotFound('model_not_found');

/** On paths that name the deployment as Azure's do, as Azure says it. */
export const azureErrorDialect = withNotFound('DeploymentNotFound');

/** How whoever asks for a path is spoken to, if paths below these prefixes name deployments as Azure's do. */
export function compatErrorDialectAt(prefixes: readonly string[]): (path: string) => ErrorDialect {
  const isAzure = (path: string): boolean => prefixes.some((prefix) => path.startsWith(`/${prefix}/deployments/`));
  return (path) => (isAzure(path) ? azureErrorDialect : compatErrorDialect);
}

/** Clients tell by this code that a deployment does not exist. */
function withNotFound(code: string): ErrorDialect {
  return {
    ...compatErrorDialect,
    toErrorBody(told) {
      const body = compatErrorDialect.toErrorBody(told);
      return told.shownCode === 'deployment_not_found' ? { error: { ...body.error, code } } : body;
    },
  };
}
