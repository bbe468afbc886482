/**
 * Most sequences that the second level may judge, by test. An entry holds from its length up to the next one, the
 * first also below.
 * Written by `node packages/lab/studies/second-level.ts table` from docs/evidence/second-level/counts.json.
 */
type LimitTable = Readonly<
  Record<string, readonly (readonly [bits: number, proportion: number, uniformity: number])[]>
>;

// biome-ignore format: one line for each length
export const MOST_SEQUENCES: LimitTable = {
  runs: [
    [10_000, 21_000, 1300],
    [20_000, 21_000, 5900],
    [1_000_000, 21_000, 39_000],
  ],
  block_frequency: [
    [128, 2300, 2],
    [256, 4900, 240],
    [512, 4900, 350],
    [1000, 9800, 1900],
    [4000, 9800, 5900],
    [10_000, 9800, 23_000],
    [100_000, 11_000, 23_000],
  ],
  'longest_run 8': [
    [128, 1300, 34],
    [256, 1300, 100],
    [512, 5200, 610],
    [1000, 8400, 780],
    [2000, 11_000, 1200],
    [4000, 11_000, 5900],
  ],
  dft: [
    [1000, 5400, 14_000],
    [1_000_000, 21_000, 39_000],
  ],
  'longest_run 128': [
    [6272, 660, 670],
    [10_000, 19_000, 3700],
    [50_000, 19_000, 11_000],
  ],
  approximate_entropy: [
    [65_536, 690, 5400],
    [100_000, 4000, 7500],
    [131_072, 6900, 10_000],
    [1_000_000, 27_000, 35_000],
  ],
  non_overlapping_template: [
    [409_664, 12_000, 19_000],
    [524_288, 21_000, 100_000],
    [1_000_000, 100_000, 100_000],
  ],
  universal: [
    [524_288, 890, 5900],
    [1_000_000, 26_000, 39_000],
  ],
  serial: [
    [524_288, 5200, 9900],
    [1_000_000, 51_000, 79_000],
  ],
  'longest_run 10000': [
    [1_000_000, 3700, 4100],
  ],
  overlapping_template: [
    [1_000_000, 40_000, 22_000],
  ],
  'random_excursions 4': [
    [1_000_000, 190, 4800],
  ],
  'random_excursions 3': [
    [1_000_000, 660, 10_000],
  ],
  'random_excursions 2': [
    [1_000_000, 2300, 18_000],
  ],
  'random_excursions 1': [
    [1_000_000, 5200, 11_000],
  ],
  'random_excursions_variant 9': [
    [1_000_000, 3500, 1700],
  ],
  'random_excursions_variant 8': [
    [1_000_000, 3500, 2000],
  ],
  'random_excursions_variant 7': [
    [1_000_000, 3500, 2300],
  ],
  'random_excursions_variant 6': [
    [1_000_000, 4900, 2800],
  ],
  'random_excursions_variant 5': [
    [1_000_000, 3500, 4700],
  ],
  'random_excursions_variant 4': [
    [1_000_000, 3500, 5900],
  ],
  'random_excursions_variant 3': [
    [1_000_000, 3500, 11_000],
  ],
  'random_excursions_variant 2': [
    [1_000_000, 19_000, 11_000],
  ],
  'random_excursions_variant 1': [
    [1_000_000, 44_000, 22_000],
  ],
  linear_complexity: [
    [1_000_000, 5200, 34_000],
  ],
};
