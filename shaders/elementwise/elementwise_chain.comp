#version 460
// Several elementwise ops as successive steps: see elementwise/elementwise.glsl.
#define CHAIN
#include "elementwise/elementwise.glsl"
