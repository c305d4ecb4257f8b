"""GenArena: benchmark, outputs, battle logs; read and written."""
