/** Text for people: characters that act on a terminal or a shell are escaped. */
export { quote } from './shell-word.ts';
export { stackFrames } from './stack-frames.ts';
export { formProblem, type ValueKind } from './value-form.ts';
export { visible, visibleLine, visibleLines } from './visible.ts';
