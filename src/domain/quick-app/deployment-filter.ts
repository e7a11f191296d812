import { PatternError, type PatternRun, withPatterns } from '#base/text/patterns.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Condition } from '#contract/quick-app/conditions.ts';
import { compileConditions, type DescribedDeployment, type MeetsConditions } from '#contract/quick-app/meet-conditions.ts';

/** The properties of a deployment that conditions use. */
interface MatchedDeployment {
  readonly id: string;
  readonly kind: 'model' | 'application';
  readonly displayName: string | undefined;
  readonly description: string | undefined;
}

/**
 * Conditions of one version of a quick app. They are compiled on first use, and each deployment is matched only once while it
 * is unchanged. A call has no matching cost if all deployments are already matched.
 */
export class DeploymentFilter {
  /** Entries of `applications_as_tools`. A deployment must meet one of them. */
  readonly #entries: readonly (readonly Condition[])[];
  #compiled: readonly MeetsConditions[] | undefined;
  readonly #matches = new WeakMap<MatchedDeployment, boolean>();

  constructor(entries: readonly (readonly Condition[])[]) {
    this.#entries = entries;
  }

  /**
   * Returns the deployments that meet the conditions. Throws `operation_not_supported` if this takes too long. The deployment
   * that took too long then counts as not matching, so that the next call continues after it.
   */
  find<Deployment extends MatchedDeployment>(deployments: readonly Deployment[]): readonly Deployment[] {
    const unmatched = deployments.filter((deployment) => !this.#matches.has(deployment));
    if (unmatched.length > 0) this.#match(unmatched);
    return deployments.filter((deployment) => this.#matches.get(deployment) === true);
  }

  #match(deployments: readonly MatchedDeployment[]): void {
    try {
      withPatterns((patterns) => {
        const compiled = this.#compile(patterns);
        for (const deployment of deployments) {
          this.#matches.set(deployment, false);
          const described = toDescription(deployment);
          const isMet = compiled.some((meets) => meets(described, patterns));
          this.#matches.set(deployment, isMet);
        }
      });
    } catch (cause) {
      if (!(cause instanceof PatternError)) throw cause;
      const claim = `The conditions in applications_as_tools cannot be matched: ${cause.message}. Use fewer or simpler expressions.`;
      throw new ParleyError('operation_not_supported', claim, { cause });
    }
  }

  #compile(patterns: PatternRun): readonly MeetsConditions[] {
    this.#compiled ??= this.#entries.map((conditions) => compileConditions(conditions, patterns));
    return this.#compiled;
  }
}

function toDescription({ id, kind, displayName = id, description = '' }: MatchedDeployment): DescribedDeployment {
  return { id, displayName, description, isApplication: kind === 'application' };
}
