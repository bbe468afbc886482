#!/bin/sh
# Writes the files of this folder with the programs that people use: OpenSSL 3.0, binutils 2.40, coreutils 9.1, bsdextrautils
# 2.38, xxd of Vim 9.0 and Python 3.11 with NumPy 2.4. Run it in this folder.
set -eu
head -c 202 /dev/zero |
  openssl enc -aes-128-ctr -nosalt -K 00112233445566778899aabbccddeeff -iv 00000000000000000000000000000000 > source.bin

objcopy -I binary -O ihex source.bin objcopy.hex
objcopy -I binary -O ihex --change-addresses 0x800fff8 source.bin objcopy-flash.hex
objcopy -I binary -O srec source.bin objcopy.srec
objcopy -I binary -O srec --srec-forceS3 --srec-len=8 --change-addresses 0x20000100 source.bin objcopy-s3.srec
od -A o -t x1 source.bin > od.txt
od -A d -t x1z source.bin > od-decimal.txt
od source.bin > od-words.txt
od -A x -t x4 -w8 source.bin > od-long.txt
hexdump source.bin > hexdump.txt
hexdump -C source.bin > hexdump-canonical.txt
hexdump -b source.bin > hexdump-octal.txt
xxd source.bin > xxd.txt
xxd -b source.bin > xxd-bits.txt
xxd -u -g 4 -c 24 source.bin > xxd-wide.txt
xxd -p source.bin > xxd-plain.txt
base64 source.bin > base64.txt
gzip -nc9 source.bin > source.bin.gz
python3 - <<'PYTHON'
import wave
import numpy
data = open('source.bin', 'rb').read()
numpy.save('bytes.npy', numpy.frombuffer(data, numpy.uint8))
numpy.save('words.npy', numpy.frombuffer(data, '>i2'))
numpy.save('bool.npy', numpy.unpackbits(numpy.frombuffer(data, numpy.uint8)).astype(bool))
for name, width, channels in (('sound8.wav', 1, 1), ('sound16.wav', 2, 1), ('stereo.wav', 1, 2)):
    with wave.open(name, 'wb') as sound:
        sound.setparams((channels, width, 48000, 0, 'NONE', ''))
        sound.writeframes(data)
numpy.savetxt('column.csv', numpy.column_stack((numpy.arange(len(data)), list(data))), '%d', ',', header='n,value', comments='')
PYTHON
