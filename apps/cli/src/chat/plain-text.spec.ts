import { expect, test } from '@jest/globals';
import { tailOf, toPlain } from './plain-text.js';

test.each([
  ['colours and cursor moves', '\u001b[31mred\u001b[0m\u001b[2J\u001b[1;1H!', 'red!'],
  ['a title or a clipboard', '\u001b]0;title\u0007\u001b]52;c;aGk=\u0007text', 'text'],
  ['bells, backspaces and text that runs the other way', 'a\u0007b\u0008c\u202ed\u2066e', 'abcde'],
  ['a bar that is written over', '10 %\r50 %\r100 %\r\nnext', '100 %\nnext'],
  ['tabs', 'a\tb', 'a  b'],
])('%s do nothing to the screen', (_what, text, plain) => {
  expect(toPlain(text)).toBe(plain);
});

test('the tail of a text fits its lines, long lines counted as they wrap', () => {
  expect(tailOf('a\nb\nc', 2, 10)).toEqual({ text: 'b\nc', isCut: true });
  expect(tailOf('a\nb', 2, 10)).toEqual({ text: 'a\nb', isCut: false });
  expect(tailOf(`a\n${'x'.repeat(15)}\nb`, 3, 10)).toEqual({ text: `${'x'.repeat(15)}\nb`, isCut: true });
  expect(tailOf(`a\n${'x'.repeat(15)}\nb`, 2, 10)).toEqual({ text: 'b', isCut: true });
  expect(tailOf('x'.repeat(50), 2, 10)).toEqual({ text: 'x'.repeat(20), isCut: true });
});
