/** The head of a report's page, and the policy by which it loads nothing. */
import { type Markup, markup } from './markup.ts';
import { STYLE } from './style.ts';

/** Forbids the page to load, run or send anything: its text, styles and pictures are all in it. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/** Returns the page up to its body. `heads` are the styles of its running head. */
export function pageHead(title: string, heads: Markup): Markup {
  return markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${STYLE}${heads}</style>
</head>`;
}
