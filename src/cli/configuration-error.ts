import { CommandError } from '#platform/commands';

/** A configuration that cannot be used. */
export class ConfigurationError extends CommandError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['the configuration is invalid:', ...problems.map((one) => `  ${one}`)], 2);
    this.problems = problems;
  }
}
