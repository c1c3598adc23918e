"""Reads the parts of a model file of the program, in the order of crates/embed/src/layout.rs."""
import numpy as np

HEADER_BYTES, ALIGNMENT = 512, 64


class PackedModel:
    """A model file: numbers of its header, then aligned parts."""

    def __init__(self, path):
        self.path, self.bytes, self.at = path, path.read_bytes(), HEADER_BYTES

    def numbers(self, *places):
        """The numbers at these places of the header."""
        return [int.from_bytes(self.bytes[32 + 4 * place:36 + 4 * place], "little") for place in places]

    def take(self, *shape, of=np.float32):
        """The next part."""
        start, count = -(-self.at // ALIGNMENT) * ALIGNMENT, int(np.prod(shape))
        self.at = start + count * np.dtype(of).itemsize
        return np.frombuffer(self.bytes, of, count, start).reshape(shape)

    def linear(self, outputs, inputs):
        """The weights and the bias of a layer. The weights are stored in eight bits, in tiles of 64 outputs."""
        tiles = self.take(outputs // 64, inputs // 4, 64, 4, of=np.int8)
        steps = tiles.transpose(0, 2, 1, 3).reshape(outputs, inputs)
        scale, _, bias = self.take(outputs), self.take(outputs, of=np.int32), self.take(outputs)
        return steps * scale[:, None], bias.copy()

    def end(self):
        """Checks that every part was read."""
        assert self.at == len(self.bytes), f"{self.path} is longer than it should be"
