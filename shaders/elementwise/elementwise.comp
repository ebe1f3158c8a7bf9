#version 460
// Elementwise op of one step: see elementwise/elementwise.glsl.
#include "elementwise/elementwise.glsl"
